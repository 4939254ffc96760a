/**
 * Events that can be told from each other, and be written anew when it is time to compare: each is decided by its session
 * and its place in it. Like a conversation's calls, each repeats what was said before it, so that what is stored of one
 * rests on what is stored of others.
 */
import * as Random from "./Random.ts"

export interface Place {
  readonly session: string
  /** From 1. */
  readonly call: number
  /** Letters of each message. */
  readonly size: number
}

/** Messages of an event's inputs: the last ones. Before the first call there were some already, so that all are as large. */
const remembered = 8

export const markerOf = ({ call, session }: Place): string => `${session}/${call}`

/** Both halves of the payload, as they stand in the body and must stand in what is read. */
export const payloadOf = (place: Place): string => {
  const { call, session, size } = place
  const messages: Array<object> = []
  for (let n = call - remembered + 1; n <= call; n++) {
    messages.push({ role: n % 2 === 0 ? "user" : "assistant", content: Random.text(size, session, n) })
  }
  const inputs = { model: "m-1", messages }
  const output = { marker: markerOf(place), role: "assistant", content: Random.text(size, session, call + 1) }
  return `"inputs":${JSON.stringify(inputs)},"output":${JSON.stringify(output)}`
}

export const bodyOf = (place: Place, fingerprintId: string): string =>
  `{"event_name":"llm","fingerprint_id":"${fingerprintId}","session":${JSON.stringify(place.session)},` +
  `"properties":{"api":"aisdk",${payloadOf(place)}}}`

/** Of an event that was read. */
export const markerIn = (text: string): string | undefined => {
  try {
    return JSON.parse(text).properties.output.marker
  } catch {
    return undefined
  }
}
