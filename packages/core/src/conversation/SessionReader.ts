/** Reads sessions as messages and calls. Outlines of the sessions that were read last are kept. */
import type { Message } from "@tachograph/formats"
import type { InputPrices, PriceList } from "@tachograph/prices"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { type EventDamaged, EventNotFound, Overloaded, SessionNotFound, StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import * as Uuid from "../domain/Uuid.ts"
import { Damage } from "../payload/format/Damage.ts"
import type * as DamageLog from "../read/DamageLog.ts"
import * as EventReader from "../read/EventReader.ts"
import { LruCache } from "../read/LruCache.ts"
import type { Storage } from "../Storage.ts"
import type { OutlinedCall } from "./Call.ts"
import * as Configurations from "./Configurations.ts"
import { MessageTexts } from "./MessageTexts.ts"
import * as PieceTexts from "./PieceTexts.ts"
import { maxPack, SessionOutline } from "./SessionOutline.ts"

/** A page of a list that is ordered by numbers. */
interface NumberedQuery {
  /** Starts after this number, in the query's order. */
  readonly after?: number | undefined
  readonly order: "asc" | "desc"
  /** At least 1. */
  readonly limit: number
}

export interface MessageQuery extends NumberedQuery {
  /** Only messages with a higher number. */
  readonly above?: number | undefined
  /** With the JSON texts of the messages. */
  readonly isVerbatim?: boolean | undefined
  /** Called with the size of the page so far (bytes), which only grows. False: the process holds too much already. */
  readonly reserve?: ((bytes: number) => Effect.Effect<boolean>) | undefined
}

export interface CallQuery extends NumberedQuery {
  /** Only calls that were recorded after this event. */
  readonly afterEvent?: EventId | undefined
}

/** A message of a session. */
export interface SessionMessage {
  /** Counted from 1, in the order in which they were carried first. */
  readonly number: number
  /** The call that carried it first, and when that was. */
  readonly eventId: EventId
  readonly at: DateTime.Utc
  readonly from: "input" | "output"
  /** Undefined if it cannot be read. */
  readonly message: Message | undefined
  /** Null where it was not asked for, and where no value of the call is the message alone. */
  readonly verbatim: string | null
}

/** Numbers of messages, the first and the last. */
type Run = readonly [first: number, last: number]

/** A call of a session, and how the conversation grew with it. */
export interface SessionCall extends EventSummary {
  readonly parentEventId: EventId | null
  readonly keptMessages: number
  readonly newMessages: ReadonlyArray<number>
  readonly goneMessages: ReadonlyArray<number>
  readonly output: ReadonlyArray<number>
  readonly carried: { readonly kept: number; readonly runs: ReadonlyArray<Run> }
  readonly instructionsChanged: boolean
  readonly toolsChanged: boolean
  readonly parametersChanged: boolean
  /** By what its input was priced. Null where that is not known, as where the list is not at hand. */
  readonly inputPrices: InputPrices | null
  /** Whether its payload cannot be read. It has no messages then. */
  readonly isDamaged: boolean
}

export interface NumberedPage<Row> {
  readonly rows: ReadonlyArray<Row>
  /** After which the next page starts; undefined on the last page. */
  readonly next: number | undefined
}

export interface MessagePage extends NumberedPage<SessionMessage> {
  /** How many of the calls that were read for it are damaged: their messages are left out. */
  readonly damagedCalls: number
}

/** Memory of the outlines that are kept, in bytes. */
const cachedOutlineBytes = 32 * 1024 * 1024

/** How often a session is read again that is erased from meanwhile. */
const maxAttempts = 10

/** A page of messages ends when the texts that it was read from have this many characters. */
const maxPageLength = 4 * 1024 * 1024

/** Events of a page of a list. */
const pageEvents = 1_000

/** A page, and what was found damaged in it. */
interface Listed<Page> {
  readonly page: Page
  readonly damaged: ReadonlyArray<{ readonly id: EventId; readonly damage: Damage }>
}

interface Entry {
  readonly project: ProjectId
  readonly session: number
  readonly read: SessionOutline
  /** One request at a time reads on. */
  readonly turns: Semaphore.Semaphore
}

export class SessionReader {
  readonly #storage: Storage["Service"]
  readonly #onDamage: DamageLog.OnDamage
  /** Loads the list. */
  readonly #pricing: Effect.Effect<{ readonly prices: PriceList.PriceList }>
  readonly #caches = PieceTexts.makeCaches()
  /** By project and session. */
  readonly #outlines = new LruCache<string, Entry>(cachedOutlineBytes)

  constructor(
    storage: Storage["Service"],
    onDamage: DamageLog.OnDamage,
    pricing: Effect.Effect<{ readonly prices: PriceList.PriceList }>
  ) {
    this.#storage = storage
    this.#onDamage = onDamage
    this.#pricing = pricing
  }

  /**
   * Messages, in the order of their numbers. A page may have fewer than `limit` although there are more, if their texts are long.
   */
  readonly listMessages = (project: ProjectId, session: SessionId, query: MessageQuery) => {
    const { above = 0, after, limit, order } = query
    const first = order === "asc" ? Math.max(above, after ?? 0) + 1 : above + 1
    const isEnough = ({ outline }: SessionOutline) => order === "asc" && outline.messages.length >= first + limit
    return this.#reading(project, session, isEnough, (read) => {
      const { length } = read.outline.messages
      const end = order === "asc" ? length + 1 : Math.min(length + 1, after ?? length + 1)
      return messagesOf(read, numbersOf(first, end, query), end - first, query)
    })
  }

  /** Calls, in the order in which they were recorded. They have the numbers of their packs. */
  readonly listCalls = (project: ProjectId, session: SessionId, query: CallQuery) => {
    const { after = 0, afterEvent, limit, order } = query
    const isEnough = ({ calls }: SessionOutline) =>
      order === "asc" && afterEvent === undefined && firstAfter(calls, after) + limit < calls.length
    return this.#reading(project, session, isEnough, (read) => this.#callsOf(project, session, read, query))
  }

  /** Drops what is kept of all sessions, because it may hold texts that were erased. */
  forget(): void {
    this.#outlines.clear()
    PieceTexts.clear(this.#caches)
  }

  /** Has the next read find anew what of the session is damaged. Texts that were read before the damage, and verified, stay. */
  forgetSession(project: ProjectId, session: number): void {
    this.#outlines.deleteWhere((entry) => entry.project === project && entry.session === session)
  }

  /** What an agent version ran with. */
  readonly listConfigurations = (project: ProjectId, query: Configurations.ConfigurationQuery) =>
    Configurations.list(this.#storage, this.#caches, this.#onDamage, project, query)

  readonly #callsOf = Effect.fnUntraced(function* (
    this: SessionReader,
    project: ProjectId,
    session: SessionId,
    read: SessionOutline,
    query: CallQuery
  ): Effect.fn.Return<Listed<NumberedPage<SessionCall>>, EventNotFound | EventDamaged | StorageUnavailable> {
    const { after, afterEvent, order } = query
    const { calls } = read
    const from = afterEvent === undefined ? 0 : calls.findIndex(({ id }) => id === afterEvent) + 1
    if (afterEvent !== undefined && from === 0) return yield* new EventNotFound()
    const start = order === "asc" ? Math.max(from, firstAfter(calls, after ?? 0)) : from
    const end = order === "asc" || after === undefined ? calls.length : firstAfter(calls, after - 1)
    const indexes = numbersOf(start, end, query)
    const listed = indexes.map((index) => calls[index]!)
    const summaries = yield* this.#summariesOf(
      project,
      session,
      listed.map(({ id }) => id)
    )
    const load = this.#pricing
    const isPriced = Array.from(summaries.values()).some(({ price }) => price !== null)
    const pricing = isPriced ? yield* load : undefined
    const rows = indexes.flatMap((index) => {
      const summary = summaries.get(calls[index]!.id)
      return summary === undefined ? [] : [callOf(read, index, summary, pricing?.prices)]
    })
    const damaged = listed.flatMap(({ damage, id }) => (damage === undefined ? [] : [{ id, damage }]))
    return { page: { rows, next: indexes.length < end - start ? listed.at(-1)?.pack : undefined }, damaged }
  })

  /** Uses what is known of a session, when `isEnough` of it is, or all of it. */
  readonly #reading = Effect.fnUntraced(function* <Page, E>(
    this: SessionReader,
    project: ProjectId,
    session: SessionId,
    isEnough: (read: SessionOutline) => boolean,
    use: (read: SessionOutline) => Effect.Effect<Listed<Page>, E>
  ): Effect.fn.Return<Page, E | SessionNotFound | StorageUnavailable> {
    const key = `${project}\u0000${session}`
    for (let attemptsLeft = maxAttempts; attemptsLeft > 0; attemptsLeft--) {
      const entry = yield* this.#entryOf(project, session, key)
      if (entry === undefined) continue
      const { read, turns } = entry
      if (yield* turns.withPermits(1)(read.extend(() => isEnough(read)))) {
        if (this.#outlines.get(key) === entry) this.#outlines.set(key, entry, read.costBytes)
        const { damaged, page } = yield* use(read)
        read.pieces.release()
        // What was erased meanwhile is no damage.
        if (damaged.length === 0 || (yield* read.isCurrent)) {
          for (const { damage, id } of damaged) yield* this.#onDamage(id, damage)
          return page
        }
      }
      if (this.#outlines.get(key) === entry) this.#outlines.delete(key)
    }
    return yield* new StorageUnavailable({ cause: new Error("The session is erased from too often to be read") })
  })

  /** Undefined if the session has been erased in between. */
  readonly #entryOf = Effect.fnUntraced(function* (
    this: SessionReader,
    project: ProjectId,
    session: SessionId,
    key: string
  ): Effect.fn.Return<Entry | undefined, SessionNotFound | StorageUnavailable> {
    const found = yield* this.#storage.getSession(project, session)
    if (found === undefined) return yield* new SessionNotFound()
    const { number } = found
    const known = this.#outlines.get(key)
    if (known?.session === number) return known
    const { state } = yield* this.#storage.listPacks(project, number, maxPack, 1)
    if (state === undefined) return undefined
    const read = new SessionOutline(this.#storage, this.#caches, { project, session, number }, state)
    const entry = { project, session: number, read, turns: Semaphore.makeUnsafe(1) }
    this.#outlines.set(key, entry, 0)
    return entry
  })

  /** The summaries of those events that still exist. */
  readonly #summariesOf = Effect.fnUntraced(function* (
    this: SessionReader,
    project: ProjectId,
    session: SessionId,
    ids: ReadonlyArray<EventId>
  ): Effect.fn.Return<ReadonlyMap<EventId, EventSummary>, EventDamaged | StorageUnavailable> {
    const wanted = new Set(ids)
    const found = new Map<EventId, EventSummary>()
    const [first, last] = [ids.toSorted()[0], ids.toSorted().at(-1)]
    if (first === undefined || last === undefined) return found
    for (let after = Uuid.previous(first); wanted.size > 0;) {
      const query = { session, order: "asc", after, limit: Math.min(pageEvents, wanted.size) } as const
      const page = yield* this.#storage.listEvents(project, query)
      for (const stored of page) {
        if (wanted.delete(stored.id)) {
          found.set(stored.id, yield* EventReader.summaryOf(project, stored, this.#onDamage))
        }
      }
      const next = page.at(-1)?.id
      if (next === undefined || next >= last) break
      after = next
    }
    return found
  })
}

/** The numbers of a page: of those from `first` up to, not including, `end`, in the query's order. */
const numbersOf = (first: number, end: number, { limit, order }: NumberedQuery): ReadonlyArray<number> => {
  const length = Math.max(0, Math.min(limit, end - first))
  return Array.from({ length }, (_, index) => (order === "asc" ? first + index : end - 1 - index))
}

/** `count` is how many messages the page could have without its limits. */
const messagesOf = Effect.fnUntraced(function* (
  { calls, damagedCalls, outline, pieces }: SessionOutline,
  numbers: ReadonlyArray<number>,
  count: number,
  { isVerbatim = false, reserve }: MessageQuery
): Effect.fn.Return<Listed<MessagePage>, Overloaded | StorageUnavailable> {
  const texts = new MessageTexts(pieces, isVerbatim)
  const rows: Array<SessionMessage> = []
  const damaged: Array<{ readonly id: EventId; readonly damage: Damage }> = []
  let pageLength = 0
  for (const number of numbers) {
    const { call, source } = outline.messages[number - 1]!
    const { at, id } = calls[call]!
    const text = yield* texts.read(calls[call]!, source)
    if (text instanceof Damage) damaged.push({ id, damage: text })
    const { length, message, verbatim } = text instanceof Damage ? unreadable : text
    pageLength += length + (verbatim?.length ?? 0)
    if (rows.length > 0 && pageLength > maxPageLength) break
    if (reserve !== undefined && !(yield* reserve(pageLength))) return yield* new Overloaded()
    rows.push({ number, eventId: id, at, from: "answer" in source ? "output" : "input", message, verbatim })
  }
  const next = rows.length < count ? rows.at(-1)?.number : undefined
  return { page: { rows, next, damagedCalls }, damaged }
})

const unreadable = { message: undefined, verbatim: null, length: 0 }

/** The index of the first call with a higher pack. */
const firstAfter = (calls: SessionOutline["calls"], pack: number): number => {
  let low = 0
  let high = calls.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (calls[middle]!.pack <= pack) low = middle + 1
    else high = middle
  }
  return low
}

const callOf = (
  { calls, outline }: SessionOutline,
  index: number,
  summary: EventSummary,
  prices: PriceList.PriceList | undefined
): SessionCall => {
  const call = outline.calls[index]!
  const { damage } = calls[index]!
  const parent = call.parent === undefined ? undefined : outline.calls[call.parent]!
  const differs = (setting: keyof OutlinedCall["settings"]) =>
    parent !== undefined && parent.settings[setting] !== call.settings[setting]
  return {
    ...summary,
    parentEventId: call.parent === undefined ? null : calls[call.parent]!.id,
    keptMessages: call.kept,
    newMessages: call.added,
    goneMessages: call.gone,
    output: outline.outputOf(call),
    carried: { kept: call.keptFirst, runs: runsOf(outline.carriedAfter(call)) },
    instructionsChanged: differs("instructions") || (parent !== undefined && parent.instructions !== call.instructions),
    toolsChanged: differs("tools"),
    parametersChanged: differs("parameters"),
    inputPrices: inputPricesOf(summary, prices),
    isDamaged: damage !== undefined
  }
}

const inputPricesOf = (
  { inputTokens, model, occurredAt, price, provider, receivedAt, responseModel }: EventSummary,
  prices: PriceList.PriceList | undefined
): InputPrices | null =>
  price === null || prices === undefined
    ? null
    : prices.inputPrices(
        { price, provider, model, response_model: responseModel, input_tokens: inputTokens },
        new Date((occurredAt ?? receivedAt).epochMilliseconds)
      )

const runsOf = (numbers: ReadonlyArray<number>): ReadonlyArray<Run> => {
  const runs: Array<[number, number]> = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs
}
