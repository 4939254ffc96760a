/** The answers of Create Event, Get Event and Get Event Messages. */
import { Events } from "@tachograph/api"
import { type Event, JsonText, type WrittenEvent } from "@tachograph/core"
import { formats } from "@tachograph/formats"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Answer from "../response/Answer.ts"

/** Has all fields but the payload, so an added field needs no change here. */
const encodeEnvelope = Schema.encodeSync(Events.EventEnvelope)

/** Stands for a half of the payload in the text around it. A JSON text cannot contain it: it would be escaped. */
const hole = JsonText.unsafe("\u0000")

/** An event with its `inputs`, `output` and `metadata` spliced in byte for byte. */
export const toAnswer = (event: Event): Answer.Answer => {
  const { api, event_id, received_at, ...call } = encodeEnvelope(event)
  const fields = {
    event_id: JsonText.of(event_id),
    received_at: JsonText.of(received_at),
    event_name: JsonText.of("llm"),
    properties: JsonText.object({ api: JsonText.of(api), inputs: hole, output: hole }),
    ...Record.map(call, (value) => JsonText.of(value)),
    metadata: event.metadata ?? JsonText.of(null)
  }
  const [before = "", between = "", after = ""] = JsonText.object(fields).split(hole)
  const { inputs, output } = event.payload
  return Answer.json([Buffer.from(before), inputs, Buffer.from(between), output, Buffer.from(after)])
}

const utf8 = new TextDecoder()

/** An event in normal form. Numbers are those of the texts, also where JavaScript would round them. */
export const toConversation = ({ api, id, payload }: Event): Answer.Answer => {
  const [inputs, output] = [payload.inputs, payload.output].map((text) => ExactJson.parse(utf8.decode(text)))
  const conversation = formats[api].messages(inputs, output)
  return Answer.json(ExactJson.stringify({ event_id: id, ...conversation } as ExactJson.ExactObject))
}

/** Marks the answer as that of an earlier request with the same idempotency key. */
const replayed = { "idempotent-replayed": "true" } as const

/** The receipt of a recorded event. No value in it needs escaping, which makes it cheap on the hot path. */
export const receipt = ({ id, isReplay, receivedAt }: WrittenEvent): Answer.Answer => {
  const iso = new Date(receivedAt.epochMilliseconds).toISOString()
  return Answer.json(`{"event_id":"${id}","received_at":"${iso}"}`, isReplay ? replayed : {})
}
