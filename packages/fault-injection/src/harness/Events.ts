/**
 * Events that are unique and reproducible: session and call number determine each byte, so an event can be generated again
 * to compare it. As in a conversation, each event repeats earlier messages, so the stored events depend on each other.
 */
import * as Random from "./Random.ts"

export interface EventSpec {
  readonly session: string
  /** From 1. */
  readonly call: number
  /** Characters of each message. */
  readonly size: number
}

/** Messages in each event's inputs. The first call repeats generated earlier ones, so that all events have the same size. */
const historyLength = 8

export const markerOf = ({ call, session }: EventSpec): string => `${session}/${call}`

/** Inputs and output as they appear in the request body, and must appear in the event that is read. */
export const payloadOf = (spec: EventSpec): string => {
  const { call, session, size } = spec
  const messages: Array<object> = []
  for (let n = call - historyLength + 1; n <= call; n++) {
    messages.push({ role: n % 2 === 0 ? "user" : "assistant", content: Random.text(size, session, n) })
  }
  const inputs = { model: "m-1", messages }
  const output = { marker: markerOf(spec), role: "assistant", content: Random.text(size, session, call + 1) }
  return `"inputs":${JSON.stringify(inputs)},"output":${JSON.stringify(output)}`
}

export const bodyOf = (spec: EventSpec, fingerprintId: string): string =>
  `{"event_name":"llm","fingerprint_id":"${fingerprintId}","session":${JSON.stringify(spec.session)},` +
  `"properties":{"api":"aisdk",${payloadOf(spec)}}}`

/** The marker of an event that was read. Undefined if the text has none. */
export const markerIn = (text: string): string | undefined => {
  try {
    return JSON.parse(text).properties.output.marker
  } catch {
    return undefined
  }
}
