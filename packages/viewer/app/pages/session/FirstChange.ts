/** The first message that a call sent otherwise than its parent had sent it. */
import type { Call } from "../../server/Types.ts"

/** The numbers of the message that the parent had sent there, and of the one that the call sent. */
export interface FirstChange {
  readonly before: number
  readonly after: number
}

const carriedAt = ({ carried }: Call, place: number): number | undefined => {
  let left = place - carried.kept
  for (const [first, last] of carried.runs) {
    if (left <= last - first) return first + left
    left -= last - first + 1
  }
  return undefined
}

const lengthOf = ({ carried }: Call): number =>
  carried.runs.reduce((sum, [first, last]) => sum + last - first + 1, carried.kept)

/** What a call sent at a place of its input, or answered after that. Calls continue their parents' conversations. */
const messageAt = (call: Call, place: number, calls: ReadonlyMap<string, Call>): number | undefined => {
  let at: Call | undefined = call
  while (at !== undefined && place < at.carried.kept) at = calls.get(at.parent_event_id ?? "")
  if (at === undefined) return undefined
  return carriedAt(at, place) ?? at.output[place - lengthOf(at)]
}

/** Undefined where the call sent all that its parent had sent, or the beginning of it, and where it is not known. */
export const firstChangeOf = (call: Call, calls: ReadonlyMap<string, Call>): FirstChange | undefined => {
  const parent = calls.get(call.parent_event_id ?? "")
  const place = call.carried.kept
  // What the parent answered was sent by nobody yet.
  if (parent === undefined || place >= lengthOf(parent)) return undefined
  const before = messageAt(parent, place, calls)
  const after = carriedAt(call, place)
  return before === undefined || after === undefined ? undefined : { before, after }
}
