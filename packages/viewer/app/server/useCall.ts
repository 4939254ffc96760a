/** A call with its place in the session: what it continues, and which messages it added. Reads nothing that was said before. */
import * as Client from "./Client.ts"
import * as Damage from "./Damage.ts"
import * as Events from "./Events.ts"
import type { Page } from "./PagedList.ts"
import type { Call, CallPage, EventSummary, ListedEvent, Message, MessagePage } from "./Types.ts"
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

/** Rows of a page at most. */
const maxRows = 1_000

/** Lists have no filter by id, but by the time in it, which few events share. */
const summaryOf = async (id: string, signal: AbortSignal): Promise<EventSummary> => {
  const ms = Damage.timeOf(id)
  if (!Number.isSafeInteger(ms)) throw new Client.ServerError(404, "event-not-found")
  const query = { after: Damage.iso(ms), before: Damage.iso(ms + 1) }
  let place: string | null = null
  do {
    const { next, rows }: Page<ListedEvent> = await Events.readLatest(query, place, maxRows, signal)
    const found = rows.find(({ event_id }) => event_id === id)
    if (found?.is_damaged === true) throw new Client.ServerError(500, "event-damaged", { eventId: id })
    if (found !== undefined) return found
    place = next
  } while (place !== null)
  throw new Client.ServerError(404, "event-not-found")
}

/** The call of the session before this one. */
const previousOf = async (session: string, id: string, signal: AbortSignal): Promise<string | undefined> => {
  const { rows } = await Events.readLatest({ session, before_event: id }, null, 1, signal)
  return rows[0]?.event_id
}

/** The event with its neighbours in the session. */
const around = async (event: EventSummary, signal: AbortSignal) => {
  const { event_id, session } = event
  const previous = await previousOf(session, event_id, signal)
  let after = previous
  const calls: Array<Call> = []
  // Usually one page: several only where calls are damaged.
  for (;;) {
    const ask = (limit: number) =>
      Client.get<CallPage>(["sessions", session, "calls"], { after_event: after, limit }, signal)
    const { page } = await Damage.readPage(ask, 10)
    const isDamaged = Damage.isDamaged(page)
    const found = isDamaged ? [Damage.callOf(page.damaged, session)] : page.calls
    calls.push(...found)
    const isLast = !isDamaged && page.next_cursor === null
    const at = calls.findIndex((call) => call.event_id === event_id)
    if (found.length === 0 || (at !== -1 && (at < calls.length - 1 || isLast))) {
      return { previous, call: calls[at], next: calls[at + 1]?.event_id }
    }
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
  const { call, next, previous } = await around(event, signal)
  if (call === undefined) throw new Client.ServerError(404, "event-not-found")
  const [fresh, output, gone] = await Promise.all(
    [call.new_messages, call.output, call.gone_messages].map((numbers) => messagesOf(event.session, numbers, signal))
  )
  return { call, previous, next, fresh: fresh!, output: output!, gone: gone! }
}

export const useCall = (id: string) => useAnswer((signal) => read(id, signal), id)
