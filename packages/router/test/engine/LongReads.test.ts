import { describe, expect, it } from "vitest"
import { isForReader, isLongRead, isProbablyLong } from "../../src/engine/thread/LongReads.ts"

const large = 64 * 1024
const load = (inFlight: number, isFrozen = false) => ({ inFlight, isFrozen })

describe("LongReads", () => {
  it("are lists, and reads of events from 64 KiB on", () => {
    expect(isLongRead({ endpoint: "listEvents" })).toBe(true)
    const sizes = [undefined, large - 1, large]
    expect(sizes.map((bytes) => isLongRead({ endpoint: "getEvent" }, bytes))).toEqual([false, false, true])
    expect(isLongRead({ endpoint: "createEvent" }, large)).toBe(false)
  })

  it("are probably the next ones of events after a large one, where the reading thread runs", () => {
    const readEvent = { endpoint: "getEventInputs" }
    expect(isProbablyLong(readEvent, large, load(3))).toBe(true)
    expect(isProbablyLong(readEvent, large - 1, load(3))).toBe(false)
    expect(isProbablyLong(readEvent, large, undefined)).toBe(false)
    expect(isProbablyLong(readEvent, large, load(3, true))).toBe(false)
    expect(isProbablyLong({ endpoint: "getAgent" }, large, load(0))).toBe(false)
  })

  it("are not reads of any event that the reading thread takes while the engine's has more to do", () => {
    const readEvent = { endpoint: "getEvent" }
    expect(isForReader(readEvent, load(1), load(2))).toBe(true)
    expect(isForReader(readEvent, load(2), load(2))).toBe(false)
    expect(isForReader(readEvent, load(0, true), load(2))).toBe(false)
    expect(isForReader({ endpoint: "getAgent" }, load(1), load(2))).toBe(false)
  })
})
