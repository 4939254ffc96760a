/** The answers of Create Event, Get Event and Get Event Messages. */
import { Events } from "@tachograph/api"
import type { Event, WrittenEvent } from "@tachograph/core"
import { formats } from "@tachograph/formats"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import * as DateTime from "effect/DateTime"
import * as Answer from "../response/Answer.ts"

type Envelope = typeof Events.EventEnvelope.Type

/** All fields but the payload, so an added field needs no change here. */
const { api, id, receivedAt, ...callKeys } = Events.envelopeKeys

/** The members of a JSON object. A schema would encode the same: times as texts, everything else as it is. */
const membersOf =
  (keys: Partial<Record<keyof Envelope, string>>) =>
  (event: Envelope): string => {
    let text = ""
    for (const field in keys) {
      const value = event[field as keyof Envelope]
      const encoded = DateTime.isDateTime(value) ? DateTime.formatIso(value) : value
      text += `${text === "" ? "" : ","}"${keys[field as keyof Envelope]}":${JSON.stringify(encoded)}`
    }
    return text
  }

const receiptOf = membersOf({ id, receivedAt })
const apiOf = membersOf({ api })
const callOf = membersOf(callKeys)

/** An event with its `inputs`, `output` and `metadata` spliced in byte for byte. */
export const toAnswer = (event: Event): Answer.Answer => {
  const { inputs, output } = event.payload
  const before = `{${receiptOf(event)},"event_name":"llm","properties":{${apiOf(event)},"inputs":`
  const after = `},${callOf(event)},"metadata":${event.metadata ?? "null"}}`
  return Answer.json([Buffer.from(before), inputs, Buffer.from(`,"output":`), output, Buffer.from(after)])
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
