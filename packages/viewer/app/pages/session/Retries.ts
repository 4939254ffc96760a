/** Which calls of a session are retries of which, by their numbers. */
import type { Call } from "../../server/Types.ts"

export interface Retried {
  /** The number and the id of the call that failed before it, and of the one that tried it again. */
  readonly of: NumberedCall | undefined
  readonly by: NumberedCall | undefined
}

interface NumberedCall {
  readonly id: string
  /** From 1, among all calls of the session. */
  readonly number: number
}

/** Of calls that are read; the retry of one may come later. */
export const retriesOf = (calls: ReadonlyArray<Call>): ((call: Call) => Retried) => {
  const numbered = new Map(calls.map(({ event_id: id }, index) => [id, { id, number: index + 1 }]))
  const retried = new Map<string, NumberedCall>()
  for (const { event_id, retry_of } of calls) if (retry_of !== null) retried.set(retry_of, numbered.get(event_id)!)
  return ({ event_id, retry_of }) => ({
    of: retry_of === null ? undefined : numbered.get(retry_of),
    by: retried.get(event_id)
  })
}

/** `retry of call 3, retried by call 5`; empty for most. */
export const wordsOf = ({ by, of }: Retried): string =>
  [
    ...(of === undefined ? [] : [`retry of call ${of.number}`]),
    ...(by === undefined ? [] : [`retried by call ${by.number}`])
  ].join(", ")
