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

/** Of calls that are read. */
export const retriesOf = (calls: ReadonlyArray<Call>): ((call: Call) => Retried) => {
  const numbered = new Map(calls.map(({ event_id: id }, index) => [id, { id, number: index + 1 }]))
  const numberedOf = (id: string | null) => (id === null ? undefined : numbered.get(id))
  return ({ retried_by, retry_of }) => ({ of: numberedOf(retry_of), by: numberedOf(retried_by) })
}

/** `retry of call 3, retried by call 5`; empty for most. */
export const wordsOf = ({ by, of }: Retried): string =>
  [
    ...(of === undefined ? [] : [`retry of call ${of.number}`]),
    ...(by === undefined ? [] : [`retried by call ${by.number}`])
  ].join(", ")
