/** What an application's `redact` makes of an event. */
import { type Envelope, isObject, objectIn, type Payload, type RecordedEvent } from "./Event.ts"

export type Redact = (event: RecordedEvent) => RecordedEvent | null | undefined

/** No event is left: for this cause, or because `redact` answers null. */
export class Redacted extends Error {
  constructor(cause?: Error) {
    super("Redacted", { cause })
  }
}

/** Whether `redact` has answered a promise. That is not awaited, so its rejection must not end the process. */
const isPromise = (value: object): boolean => {
  if (!(value instanceof Promise)) return false
  value.catch(() => {})
  return true
}

/** The JSON text of what `redact` answers. `inputs` are those of the payload. Throws `Redacted`, with a cause. */
export const redactedText = (
  redact: Redact,
  payload: Payload,
  inputs: Record<string, unknown>,
  envelope: Envelope
): string => {
  const output = objectIn(payload.output) ?? {}
  let event: RecordedEvent | null | undefined
  try {
    event = redact({ event_name: "llm", properties: { api: payload.api, inputs, output }, ...envelope })
  } catch (cause) {
    throw new Redacted(new Error("redact threw", { cause }))
  }
  if (event === null) throw new Redacted()
  if (!isObject(event)) throw new Redacted(new TypeError("redact answers no event"))
  if (isPromise(event)) throw new Redacted(new TypeError("redact answers a promise"))
  try {
    const text: unknown = JSON.stringify(event)
    if (isObject(event.properties) && typeof text === "string") return text
  } catch (cause) {
    throw new Redacted(new TypeError("redact answers what has no JSON text", { cause }))
  }
  throw new Redacted(new TypeError("redact answers no event"))
}
