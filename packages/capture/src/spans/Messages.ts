/** The messages of a call that came one by one, as log records or as events of its span. */
import { isObject } from "@tachograph/formats/json/Read"
import type { Attributes, LogRecord, Value, ValueMap } from "./Span.ts"

/** `gen_ai.user.message` and its like are sent, and `gen_ai.choice` is answered. */
const sent = /^gen_ai\.(\w+)\.message$/

/** Events of spans have no body, and their attributes in its place. */
const bodyOf = ({ attributes, body }: Pick<LogRecord, "attributes" | "body">): Value =>
  body ?? Object.fromEntries(attributes)

/** A body as it came, after its role where only the name of the record says it. */
const withRole = (role: string, body: Value): Value => {
  if (!isObject(body)) return { role, content: body }
  return Object.hasOwn(body, "role") ? body : { role, ...(body as ValueMap) }
}

/** Events of an early version of the conventions, whose attributes have the messages of one side as JSON. */
const whole = /^gen_ai\.content\.(?:prompt|completion)$/

/**
 * Attributes for the messages that these records of one call tell, in their order: `gen_ai.input.messages` has the body of each message that was
 * sent, with its role, and `gen_ai.output.messages` that of each choice. Records of other names are passed over.
 */
export const messagesOf = (records: ReadonlyArray<Pick<LogRecord, "attributes" | "body" | "name">>): Attributes => {
  const inputs: Array<Value> = []
  const output: Array<Value> = []
  const attributes = new Map<string, Value>()
  for (const record of records) {
    const role = sent.exec(record.name)?.[1]
    if (role !== undefined) inputs.push(withRole(role, bodyOf(record)))
    else if (record.name === "gen_ai.choice") output.push(bodyOf(record))
    else if (whole.test(record.name)) for (const [key, value] of record.attributes) attributes.set(key, value)
  }
  if (inputs.length > 0) attributes.set("gen_ai.input.messages", inputs)
  if (output.length > 0) attributes.set("gen_ai.output.messages", output)
  return attributes
}
