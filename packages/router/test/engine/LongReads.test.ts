import { describe, expect, it } from "vitest"
import { isForReader, isLongRead } from "../../src/engine/thread/LongReads.ts"

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
    expect(isForReader(readEvent, large, load(3), load(0))).toBe(true)
    expect(isForReader(readEvent, large - 1, load(3), load(0))).toBe(false)
    expect(isForReader(readEvent, large, undefined, load(0))).toBe(false)
    expect(isForReader(readEvent, large, load(3, true), load(0))).toBe(false)
    expect(isForReader({ endpoint: "getAgent" }, large, load(0), load(0))).toBe(false)
  })

  it("are reads of any event while the engine's thread has more to do", () => {
    const readEvent = { endpoint: "getEvent" }
    expect(isForReader(readEvent, 0, load(1), load(2))).toBe(true)
    expect(isForReader(readEvent, 0, load(2), load(2))).toBe(false)
  })
})
