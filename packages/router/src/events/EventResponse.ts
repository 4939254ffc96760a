/** The answers of Create Event, Get Event and Get Event Messages. */
import { Events } from "@tachograph/api"
import { type Event, EventSummary, type WrittenEvent } from "@tachograph/core"
import { formats } from "@tachograph/formats"
import { leadingInstructions } from "@tachograph/formats/normal/Instructions"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Answer from "../response/Answer.ts"

type Field = keyof typeof Events.envelopeKeys

/** Fields that are on the wire as they are in memory are not encoded, which would cost as much as to read a small event. */
const encoderOf = (field: Field): ((value: unknown) => unknown) | undefined => {
  const schema: Schema.Codec<unknown, unknown> = EventSummary.fields[field]
  return SchemaAST.toEncoded(schema.ast) === schema.ast ? undefined : Schema.encodeSync(schema)
}

/** Writes the members of a JSON object, by their fields. */
const membersOf = (keys: Partial<Record<Field, string>>): ((event: EventSummary) => string) => {
  const members = (Object.keys(keys) as Array<Field>).map((field) => {
    const encode = encoderOf(field)
    const name = `${JSON.stringify(keys[field])}:`
    return (event: EventSummary): string => {
      const value = event[field]
      return name + JSON.stringify(encode === undefined || value === null ? value : encode(value))
    }
  })
  return (event) => members.map((member) => member(event)).join(",")
}

/** All fields but the payload, so an added field needs no change here. */
const { api, id, receivedAt, ...callKeys } = Events.envelopeKeys

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
  const { instructions, ...conversation } = formats[api].messages(inputs, output)
  const leading_instructions = leadingInstructions(conversation.input)
  return Answer.json(
    ExactJson.stringify({ event_id: id, instructions, leading_instructions, ...conversation } as ExactJson.ExactObject)
  )
}

/** Marks the answer as that of an earlier request with the same idempotency key. */
const replayed = { "idempotent-replayed": "true" } as const

/** The receipt of a recorded event. No value in it needs escaping, which makes it cheap on the hot path. */
export const receipt = ({ id, isReplay, receivedAt }: WrittenEvent): Answer.Answer => {
  const iso = new Date(receivedAt.epochMilliseconds).toISOString()
  return Answer.json(`{"event_id":"${id}","received_at":"${iso}"}`, isReplay ? replayed : {})
}
