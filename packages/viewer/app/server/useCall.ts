/** A call with its place in the session: what it continues, and which messages it added. Reads nothing that was said before. */
import * as Client from "./Client.ts"
import type { Call, CallPage, EventSummary, Message, MessagePage } from "./Types.ts"
import { useAnswer } from "./useAnswer.ts"

export interface CallState {
  readonly call: Call
  /** Neighbours in the session. */
  readonly previous: string | undefined
  readonly next: string | undefined
  /** Messages that the call sent and its parent's conversation has not, those that it answered, and those that it left out. */
  readonly fresh: ReadonlyArray<Message>
  readonly output: ReadonlyArray<Message>
  readonly gone: ReadonlyArray<Message>
}

interface EventPage {
  readonly events: ReadonlyArray<EventSummary>
}

/** The time in an event's id (UUIDv7), in milliseconds. */
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 13).replace("-", ""), 16)

const iso = (ms: number): string => new Date(ms).toISOString()

/** Lists have no filter by id, but by the time in it. */
const summaryOf = async (id: string, signal: AbortSignal): Promise<EventSummary> => {
  const ms = timeOf(id)
  if (!Number.isSafeInteger(ms)) throw new Client.ServerError(404, "event-not-found")
  const query = { after: iso(ms), before: iso(ms + 1), limit: 1_000 }
  const { events } = await Client.get<EventPage>(["events"], query, signal)
  const found = events.find(({ event_id }) => event_id === id)
  if (found === undefined) throw new Client.ServerError(404, "event-not-found")
  return found
}

/** The calls just before the event, the event, and the one after it. */
const around = async (event: EventSummary, signal: AbortSignal): Promise<ReadonlyArray<Call>> => {
  const { event_id, session } = event
  const before = { session, before: iso(timeOf(event_id)), order: "desc", limit: 1 }
  const { events } = await Client.get<EventPage>(["events"], before, signal)
  let after = events[0]?.event_id
  const calls: Array<Call> = []
  // Usually one page: several only where calls share a millisecond.
  for (;;) {
    const query = { after_event: after, limit: 10 }
    const page: CallPage = await Client.get<CallPage>(["sessions", session, "calls"], query, signal)
    calls.push(...page.calls)
    const at = calls.findIndex((call) => call.event_id === event_id)
    if (page.calls.length === 0 || (at !== -1 && (at < calls.length - 1 || page.next_cursor === null))) return calls
    after = calls.at(-1)!.event_id
  }
}

/** Messages by their numbers, which are mostly in a row. */
const messagesOf = async (
  session: string,
  numbers: ReadonlyArray<number>,
  signal: AbortSignal
): Promise<ReadonlyArray<Message>> => {
  const wanted = new Set(numbers)
  const found: Array<Message> = []
  const sorted = numbers.toSorted((one, other) => one - other)
  let at = 0
  while (at < sorted.length) {
    const first = sorted[at]!
    // Numbers that are near are read together.
    let last = first
    for (let next = at; next < sorted.length && sorted[next]! < first + 200; next++) last = sorted[next]!
    const query = { after_number: first - 1, limit: last - first + 1 }
    const page = await Client.get<MessagePage>(["sessions", session, "messages"], query, signal)
    found.push(...page.messages.filter(({ number }) => wanted.has(number)))
    const end = page.messages.at(-1)?.number ?? last
    while (at < sorted.length && sorted[at]! <= end) at++
  }
  const places = new Map(found.map((message) => [message.number, message]))
  return numbers.flatMap((number) => places.get(number) ?? [])
}

const read = async (id: string, signal: AbortSignal): Promise<CallState> => {
  const event = await summaryOf(id, signal)
  const calls = await around(event, signal)
  const at = calls.findIndex(({ event_id }) => event_id === id)
  const call = calls[at]
  if (call === undefined) throw new Client.ServerError(404, "event-not-found")
  const [fresh, output, gone] = await Promise.all(
    [call.new_messages, call.output, call.gone_messages].map((numbers) => messagesOf(event.session, numbers, signal))
  )
  const before = { session: event.session, before: iso(timeOf(id)), order: "desc", limit: 1 }
  const previous =
    calls[at - 1]?.event_id ?? (await Client.get<EventPage>(["events"], before, signal)).events[0]?.event_id
  return { call, previous, next: calls[at + 1]?.event_id, fresh: fresh!, output: output!, gone: gone! }
}

export const useCall = (id: string) => useAnswer((signal) => read(id, signal), id)
