/**
 * The threads of a session: calls that continue one another. An agent that calls another one, or two that take turns in one
 * session, make several.
 */
import type { Call } from "../../server/Types.ts"

export interface Thread {
  /** From 1, in the order of their first calls. */
  readonly number: number
  readonly calls: ReadonlyArray<Call>
}

/**
 * A call without a parent begins a thread; the others are in the thread of their parents. A damaged call does not say what it
 * continued: it stays with the call before it.
 */
export const threadsOf = (calls: ReadonlyArray<Call>): ReadonlyArray<Thread> => {
  const threads: Array<{ readonly number: number; readonly calls: Array<Call> }> = []
  const threadOf = new Map<string, (typeof threads)[number]>()
  let latest: (typeof threads)[number] | undefined
  for (const call of calls) {
    let thread = call.is_damaged ? latest : threadOf.get(call.parent_event_id ?? "")
    if (thread === undefined) {
      thread = { number: threads.length + 1, calls: [] }
      threads.push(thread)
    }
    latest = thread
    thread.calls.push(call)
    threadOf.set(call.event_id, thread)
  }
  return threads
}
