import { Steps } from "@tachograph/core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as EventLine from "../../src/transfer/EventLine.ts"

const own = `"event_id":"01900000-0000-7000-8000-000000000001","received_at":"2026-01-02T03:04:05Z"`

/** Many values in few bytes. */
const arrays = `[${"[],".repeat(400_000)}[]]`

/** Reads a line, and counts the steps. */
const read = async (line: string) => {
  let steps = 0
  const counted = <A>(work: Steps.Steps<A>) =>
    Effect.sync(() => {
      for (;;) {
        const { done, value } = work.next()
        steps++
        if (done === true) return value
      }
    })
  const result = await Effect.runPromise(Effect.result(EventLine.makeReader(counted)(Buffer.from(line))))
  return { result, steps }
}

describe("EventLine", () => {
  it("takes texts that are written as strings", async () => {
    const { result } = await read(`{${own},"properties":{"inputs_text":"{ \\"a\\":1.0}","output_text":"[ ]"}}`)
    expect(result).toMatchObject({
      success: { body: Buffer.from(`{${own},"properties":{"inputs":{ "a":1.0},"output":[ ]}}`) }
    })
  })

  it("reads long texts, and long values of fields that are short, in steps", async () => {
    const minSteps = Math.floor(arrays.length / Steps.stepBytes)
    const text = await read(`{${own},"properties":{"inputs_text":"${arrays}","output":{}}}`)
    expect(text.result._tag).toBe("Success")
    expect(text.steps).toBeGreaterThanOrEqual(minSteps)

    const wrong = [`{"event_id":${arrays},"checksum":0}`, `{${own},"properties":${arrays}`]
    for (const line of wrong) {
      const { result, steps } = await read(line)
      expect(result).toMatchObject({ failure: { _tag: "validation-error" } })
      expect(steps).toBeGreaterThanOrEqual(minSteps)
    }
  })
})
