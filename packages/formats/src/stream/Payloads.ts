/**
 * The payloads of a streamed body, whatever frames them: server-sent events, a JSON array as it is written, one JSON value a
 * line, or one JSON body, also where it follows server-sent events (as errors of Gemini's mock servers do).
 */
import * as JsonValues from "./JsonValues.ts"
import * as Lines from "./Lines.ts"
import * as ServerSentEvents from "./ServerSentEvents.ts"

/** Payloads that no event frames have an empty `event`. */
export type Payload = ServerSentEvents.ServerSentEvent
export type PayloadDecoder = ServerSentEvents.ServerSentEventDecoder

/** No line of server-sent events begins with a bracket, and no line of JSON with a field. */
const beginsJson = /^\s*[[{]/
const beginsEvent = /^(?:data|event|id|retry)?:/

export const make = (): PayloadDecoder => {
  const lines = Lines.make()
  const events = ServerSentEvents.makeReader()
  const json = JsonValues.make()
  const toPayload = (data: string): Payload => ({ event: "", data })

  /** Whether a line belongs to JSON: one that begins it, or one within a value that is open. */
  const isJson = (line: string) => beginsJson.test(line) || (json.isOpen() && !beginsEvent.test(line))

  const take = (line: string): ReadonlyArray<Payload> => {
    // JSON behind an event ends the event.
    if (isJson(line)) return [...events.take(""), ...json.take(line).map(toPayload)]
    json.reset()
    return events.take(line)
  }

  return {
    push: (bytes) => lines.push(bytes).flatMap(take),
    end: () => {
      const rest = lines.rest()
      return isJson(rest) ? [...events.end(""), ...json.end(rest).map(toPayload)] : events.end(rest)
    }
  }
}
