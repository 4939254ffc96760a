/** A call with its place in the session: what it continues, and which messages it added. Reads nothing that was said before. */
import * as Client from "./Client.ts"
import * as Damage from "./Damage.ts"
import * as Events from "./Events.ts"
import type { Page } from "./PagedList.ts"
import type { Call, EventSummary, ListedEvent, Message } from "./Types.ts"
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

/** Rows of a page at most, and of the first page where a call mostly is. */
const maxRows = 1_000
const nearRows = 10

/** No filter of a list names one event: this one names the time in its id, which few events share. */
export const summaryOf = async (id: string, signal: AbortSignal): Promise<EventSummary> => {
  const ms = Damage.timeOf(id)
  if (!Number.isSafeInteger(ms)) throw new Client.ServerError(404, "event-not-found")
  const query = { received_after: Damage.iso(ms), received_before: Damage.iso(ms + 1) }
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

interface Placed {
  readonly previous: string | undefined
  readonly call: Call
  readonly next: string | undefined
}

/** Looks for a call among those after `previous`. The first page has `firstRows`. */
const findCall = async (
  { event_id, session }: EventSummary,
  previous: string | undefined,
  firstRows: number,
  signal: AbortSignal
): Promise<Placed | undefined> => {
  let after = previous
  let placed: Placed | undefined
  for (let limit = firstRows; ; limit = maxRows) {
    const ask = (limit: number) => Client.api.listSessionCalls({ session, after_event: after, limit }, { signal })
    const { page } = await Damage.readPage(ask, limit)
    const isDamaged = Damage.isDamaged(page)
    const found = isDamaged ? [Damage.callOf(page.damaged, session)] : page.calls
    // It was the last one of the page before.
    if (placed !== undefined) return { ...placed, next: found[0]?.event_id }
    const isLast = found.length === 0 || (!isDamaged && page.next_cursor === null)
    const at = found.findIndex((call) => call.event_id === event_id)
    if (at !== -1) {
      placed = { previous: found[at - 1]?.event_id ?? after, call: found[at]!, next: found[at + 1]?.event_id }
      if (at < found.length - 1) return placed
    }
    if (isLast) return placed
    after = found.at(-1)!.event_id
  }
}

/** The event with its neighbours in the session. */
const around = async (event: EventSummary, signal: AbortSignal): Promise<Placed | undefined> => {
  const previous = await previousOf(event.session, event.event_id, signal)
  // Mostly one page. More where calls are damaged, or were imported: those may stand elsewhere than their ids say.
  return (await findCall(event, previous, nearRows, signal)) ?? (await findCall(event, undefined, maxRows, signal))
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
    const query = { session, after_number: first - 1, limit: last - first + 1 }
    const page = await Client.api.listSessionMessages(query, { signal })
    found.push(...page.messages.filter(({ number }) => wanted.has(number)))
    const end = page.messages.at(-1)?.number ?? last
    while (at < sorted.length && sorted[at]! <= end) at++
  }
  const places = new Map(found.map((message) => [message.number, message]))
  return numbers.flatMap((number) => places.get(number) ?? [])
}

const read = async (id: string, signal: AbortSignal): Promise<CallState> => {
  const event = await summaryOf(id, signal)
  const placed = await around(event, signal)
  if (placed === undefined) throw new Client.ServerError(404, "event-not-found")
  const { call, next, previous } = placed
  const read = (numbers: ReadonlyArray<number>) => messagesOf(event.session, numbers, signal)
  const [fresh, output, gone] = await Promise.all([
    read(call.new_messages),
    read(call.output),
    read(call.gone_messages)
  ])
  return { call, previous, next, fresh, output, gone }
}

export const useCall = (id: string) => useAnswer((signal) => read(id, signal), id)
