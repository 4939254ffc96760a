/** The answers of Create Event and Get Event. */
import type { Events } from "@tachograph/api"
import { type Event, JsonText, type WrittenEvent } from "@tachograph/core"
import { DateTime } from "effect"
import * as Answer from "../response/Answer.ts"

type Field = keyof typeof Events.EventOnWire.Type

/** Stands for a half of the payload in the text around it. A JSON text cannot contain it: it would be escaped. */
const hole = JsonText.unsafe("\u0000")

/** An event with its `inputs` and `output` spliced in byte for byte. */
export const toAnswer = (event: Event): Answer.Answer => {
  const fields = {
    event_id: JsonText.of(event.id),
    received_at: JsonText.of(DateTime.formatIso(event.receivedAt)),
    event_name: JsonText.of("llm"),
    properties: JsonText.object({ api: JsonText.of(event.api), inputs: hole, output: hole }),
    fingerprint_id: JsonText.of(event.fingerprintId),
    agent: JsonText.of(event.agent),
    agent_version: JsonText.of(event.agentVersion),
    person: JsonText.of(event.person),
    session: JsonText.of(event.session),
    occurred_at: JsonText.of(event.occurredAt && DateTime.formatIso(event.occurredAt)),
    duration_ms: JsonText.of(event.durationMs)
  } satisfies Record<Field, JsonText.JsonText>
  const [before = "", between = "", after = ""] = JsonText.object(fields).split(hole)
  const { inputs, output } = event.payload
  return Answer.json(Buffer.concat([Buffer.from(before), inputs, Buffer.from(between), output, Buffer.from(after)]))
}

/** Marks the answer as that of an earlier request with the same idempotency key. */
const replayed = { "idempotent-replayed": "true" } as const

/** The receipt of a recorded event. No value in it needs escaping, which makes it cheap on the hot path. */
export const receipt = ({ id, isReplay, receivedAt }: WrittenEvent): Answer.Answer => {
  const iso = new Date(receivedAt.epochMilliseconds).toISOString()
  return Answer.json(`{"event_id":"${id}","received_at":"${iso}"}`, isReplay ? replayed : {})
}
