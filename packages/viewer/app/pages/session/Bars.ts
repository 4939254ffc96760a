/** The bars of the strip: a bar for each call that is shown, or for several where there is no room for all. */
import type { Call } from "../../server/Types.ts"
import * as Retries from "./Retries.ts"
import { isRewrite, timeOf } from "./StreamItems.ts"
import type { Shown } from "./Links.ts"

/** The least width of a bar (pixels). */
const minWidth = 3

/** A pause between two calls that is marked (ms): after five minutes most providers forget what they had cached. */
const gapMs = 300_000

interface PlacedCall {
  readonly call: Call
  /** From 1, among all calls of the session. */
  readonly number: number
}

export interface Bar {
  /** In their order. At least one. */
  readonly calls: ReadonlyArray<PlacedCall>
  /** Bytes, of the call that sent most. */
  readonly sent: number
  readonly fresh: number
  readonly hasRewrite: boolean
  readonly hasError: boolean
  readonly hasGap: boolean
  /** Whether one of them failed, and was tried again, or is a retry. Empty for most. */
  readonly retries: string
}

/** Bytes that a call sent and its parent had not. */
const freshOf = (call: Call, parents: ReadonlyMap<string, Call>): number => {
  const parent = call.parent_event_id === null ? undefined : parents.get(call.parent_event_id)
  if (parent === undefined) return call.inputs_bytes
  return isRewrite(call) ? call.inputs_bytes : Math.max(0, call.inputs_bytes - parent.inputs_bytes)
}

export const barsOf = (calls: ReadonlyArray<Call>, shown: Shown, width: number): ReadonlyArray<Bar> => {
  const parents = new Map(calls.map((call) => [call.event_id, call]))
  const listed = calls
    .map((call, index): PlacedCall => ({ call, number: index + 1 }))
    .filter(({ call }) => shown?.has(call.event_id) !== false)
  const perBar = Math.max(1, Math.ceil((listed.length * minWidth) / Math.max(width, minWidth)))
  const bars: Array<Bar> = []
  const retriedOf = Retries.retriesOf(calls)
  for (let first = 0; first < listed.length; first += perBar) {
    const group = listed.slice(first, first + perBar)
    bars.push({
      calls: group,
      sent: Math.max(...group.map(({ call }) => call.inputs_bytes)),
      fresh: Math.max(...group.map(({ call }) => freshOf(call, parents))),
      hasRewrite: group.some(({ call }) => isRewrite(call)),
      retries: Array.from(new Set(group.map(({ call }) => Retries.wordsOf(retriedOf(call)))))
        .filter(Boolean)
        .join(", "),
      hasError: group.some(({ call }) => call.error_type !== null),
      hasGap: group.some(({ call }, index) => {
        const before = listed[first + index - 1]
        return before !== undefined && Date.parse(timeOf(call)) - Date.parse(timeOf(before.call)) > gapMs
      })
    })
  }
  return bars
}
