import { Events } from "@tachograph/api"
import { type Event, EventSummary } from "@tachograph/core"
import { Arbitrary, Effect, Schema } from "effect"
import { expect, it } from "vitest"
import * as EventResponse from "../../src/events/EventResponse.ts"
import { whole } from "../../src/response/Answer.ts"

it("encodes the fields of an event as the contract does", async () => {
  const events = await Effect.runPromise(
    Arbitrary.sampleEffect(Arbitrary.schema(Schema.toType(EventSummary)), { count: 200, seed: 1 })
  )
  expect(events.length).toBe(200)
  for (const [index, each] of events.entries()) {
    // A sample may be negative, which no cost is.
    const cost = index % 3 === 0 ? null : 125_000_000 + index
    const summary = { ...each, costUsd: cost, statedCostUsd: cost, listCostUsd: null }
    const payload = { inputs: Buffer.from(`{"a" : 1}`), output: Buffer.from(`{"b":1.0}`) }
    const text = String(whole(EventResponse.toAnswer({ ...summary, payload, metadata: null } as Event).body))
    const { api, event_id, received_at, ...call } = Schema.encodeSync(Events.EventEnvelope)(summary)
    const head = { event_id, received_at, event_name: "llm", properties: { api, inputs: 0, output: 0 } }
    const expected = JSON.stringify({ ...head, ...call, metadata: null })
      .replace(`"inputs":0`, `"inputs":{"a" : 1}`)
      .replace(`"output":0`, `"output":{"b":1.0}`)
    expect(text).toBe(expected)
  }
})
