/**
 * Finds texts in what events carry: goes through the events from the newest to the oldest, looks at the packs of each without
 * parsing them, and reads the texts of those that may have the needle. A text is found once in a session: with the event that first
 * carried it.
 */
import { Clock, Effect } from "effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as Uuid from "../domain/Uuid.ts"
import { Damage } from "../payload/format/Damage.ts"
import type * as DamageLog from "../read/DamageLog.ts"
import * as EventReader from "../read/EventReader.ts"
import { orDamage } from "../read/OrDamage.ts"
import type { Storage } from "../Storage.ts"
import type { EventQuery, FieldFilter } from "../storage/Lists.ts"
import type { EventPack } from "../storage/Stored.ts"
import { type Hit, HitReader } from "./Hits.ts"
import { Needle } from "./Needle.ts"
import { PackScan, type ScannedSession } from "./PackScan.ts"

/** What a request looks at before it answers where to go on: bytes that were unpacked, and time (ms). */
const maxBytes = 64 * 1024 * 1024
const maxMs = 500

/** What a request looks at of a session to learn whether a text was carried before (bytes). */
const maxBackBytes = 64 * 1024 * 1024

/** Older events of a session with which the texts of an event are compared: the nearest of those that may have the text. */
const maxBackEvents = 500

/** Those of them of which also what is left of erased events is read, and the contents that a request reads for that (bytes). */
const maxBackErased = 32
const maxBackContents = 16 * 1024 * 1024

/** Texts of a session that a request remembers. */
const maxTexts = 100_000

/** Events whose packs are asked for at once: at first, and at most. */
const firstEvents = 64
const maxEvents = 1024

/** Events that are looked at for them, where there is no index for the filter. */
const maxLooked = 10_000

/** How often an event is read again that is damaged, because an erasure may have changed it meanwhile. */
const maxAttempts = 3

/** Where a search goes on: after an event, or within it. */
export interface SearchPlace {
  readonly event: EventId
  /** How many texts of the event were found already; undefined for all of them. */
  readonly given: number | undefined
}

export interface SearchQuery {
  /** Not empty. */
  readonly text: string
  readonly isCaseSensitive: boolean
  readonly names: Pick<EventQuery, "session" | "agent" | "agentVersion" | "person" | "above" | "below">
  readonly fields: FieldFilter
  readonly after: SearchPlace | undefined
  /** At least 1. */
  readonly limit: number
}

export interface SearchResult extends Omit<Hit, "key"> {
  /** The event that first carried it. */
  readonly event: EventSummary
}

export interface SearchPage {
  readonly results: ReadonlyArray<SearchResult>
  /** How many events could not be searched. Each is logged. */
  readonly damaged: number
  /** Undefined if all was looked at. */
  readonly next: SearchPlace | undefined
}

/** What is known of the texts of a session. */
interface SessionTexts {
  /** The session's events that may have the text, the newest first, as far as they were listed. */
  readonly events: Array<EventPack>
  /** Where the list goes on; undefined at its end. */
  after: EventId | undefined
  /** The lowest pack that carries each text, by its key. */
  readonly first: Map<string, number>
  /** The packs whose own texts are in `first`, and what was found with events by these, with what is left of erased ones. */
  readonly own: Set<number>
  readonly whole: Map<number, ReadonlyArray<Hit>>
}

type Run<A> = Effect.Effect<A, StorageUnavailable>

class Search {
  readonly #storage: Storage["Service"]
  readonly #project: ProjectId
  readonly #scan: PackScan
  readonly #reader: HitReader
  readonly #logDamage: DamageLog.OnDamage
  readonly #texts = new Map<number, SessionTexts>()
  /** Bytes of contents that were read to learn whether a text was carried before. */
  #backContents = 0

  constructor(storage: Storage["Service"], project: ProjectId, query: SearchQuery, logDamage: DamageLog.OnDamage) {
    const needle = new Needle(query.text, query.isCaseSensitive)
    this.#storage = storage
    this.#project = project
    this.#scan = new PackScan(storage, project, needle)
    this.#reader = new HitReader(storage, project, needle, this.#scan)
    this.#logDamage = logDamage
  }

  readonly page = Effect.fnUntraced(function* (
    this: Search,
    { after, fields, limit, names }: SearchQuery
  ): Effect.fn.Return<SearchPage, StorageUnavailable> {
    const started = yield* Clock.currentTimeMillis
    const results: Array<SearchResult> = []
    let damaged = 0
    /** The event that was looked at last. */
    let last = after?.given === undefined ? after?.event : Uuid.next(after.event)
    let isBegun = false
    const isSpent = Effect.map(
      Clock.currentTimeMillis,
      (now) => isBegun && (this.#scan.bytes > maxBytes || now - started > maxMs)
    )
    for (let count = firstEvents; ; count = Math.min(2 * count, maxEvents)) {
      if (yield* isSpent) return { results, damaged, next: last && { event: last, given: undefined } }
      const query = { ...names, order: "desc", after: last, limit: count } as const
      const { next, rows } = yield* this.#storage.findPacks(this.#project, query, fields, maxLooked)
      for (const [index, event] of rows.entries()) {
        let scanned = this.#scan.sessionOf(event)
        if (scanned === undefined) {
          if (yield* isSpent) return { results, damaged, next: last && { event: last, given: undefined } }
          yield* this.#scan.look(rows, index)
          scanned = this.#scan.sessionOf(event)!
        }
        // Nearly all events: without an effect for each.
        if (!scanned.isOfErased && scanned.others.has(event.pack)) {
          last = event.id
          isBegun = true
          continue
        }
        if (yield* isSpent) return { results, damaged, next: last && { event: last, given: undefined } }
        const found = yield* this.#search(event, scanned)
        // The next page can read more for it.
        if (found.isCut && isBegun) return { results, damaged, next: last && { event: last, given: undefined } }
        if (found.isDamaged) damaged++
        const skipped = event.id === after?.event ? (after.given ?? 0) : 0
        const free = limit - results.length
        const taken = found.hits.slice(skipped, skipped + free)
        for (const { key: _, ...hit } of taken) results.push({ ...hit, event: found.summary! })
        if (skipped + taken.length < found.hits.length) {
          return { results, damaged, next: { event: event.id, given: skipped + taken.length } }
        }
        last = event.id
        isBegun = true
        if (results.length === limit) return { results, damaged, next: { event: last, given: undefined } }
      }
      if (next === undefined) return { results, damaged, next: undefined }
      last = next
      isBegun = true
      yield* Effect.yieldNow
    }
  })

  /** What is found with an event, the newest first. */
  readonly #search = Effect.fnUntraced(function* (this: Search, event: EventPack, scanned: ScannedSession) {
    const nothing = { summary: undefined, hits: [] as ReadonlyArray<Hit>, isDamaged: false, isCut: false }
    if (scanned.isOfErased) yield* this.#scan.lookBack(scanned, maxBackBytes)
    if (scanned.others.has(event.pack) && !hasErased(scanned, event.pack)) return nothing
    const damage = damageOf(scanned, event.pack)
    const summary = yield* this.#summaryOf(event.id)
    if (summary === undefined) return nothing
    if (summary === "damaged") return { ...nothing, isDamaged: true }
    const hits = damage ?? (yield* this.#hitsOf(event, summary, scanned))
    if (hits instanceof Damage) {
      // Erased meanwhile: its pack is gone, not damaged.
      if ((yield* this.#summaryOf(event.id)) === undefined) return nothing
      yield* this.#logDamage(event.id, hits)
      return { ...nothing, isDamaged: true }
    }
    if (hits.length === 0) return nothing
    const { first, isCut } = yield* this.#firstOf(event, hits, summary, scanned)
    const own = hits.filter(({ key }) => (first.get(key) ?? event.pack) >= event.pack)
    return { summary, hits: own.toReversed(), isDamaged: false, isCut }
  })

  /** Undefined if the event was erased meanwhile. */
  readonly #summaryOf = (id: EventId): Run<EventSummary | "damaged" | undefined> =>
    this.#storage.getEvent(this.#project, id, 0).pipe(
      Effect.flatMap((stored) => EventReader.summaryOf(this.#project, stored, this.#logDamage)),
      Effect.catchTag("event-not-found", () => Effect.undefined),
      Effect.catchTag("event-damaged", () => Effect.succeed("damaged" as const))
    )

  /** What an event has that is new with its pack or only with packs whose events were erased, or why it is unknown. */
  readonly #hitsOf = Effect.fnUntraced(function* (
    this: Search,
    { pack, session }: EventPack,
    { api }: EventSummary,
    scanned: ScannedSession
  ): Effect.fn.Return<ReadonlyArray<Hit> | Damage, StorageUnavailable> {
    const known = this.#texts.get(session)?.whole.get(pack)
    if (known !== undefined) return known
    const isOwn = scanned.candidates.has(pack) && !hasErased(scanned, pack)
    const erased = isOwn ? [] : [...scanned.erased].filter((number) => number < pack).sort((a, b) => a - b)
    return yield* this.#read(api, session, [...erased, pack])
  })

  readonly #read = Effect.fnUntraced(function* (
    this: Search,
    api: EventSummary["api"],
    session: number,
    packs: ReadonlyArray<number>
  ): Effect.fn.Return<ReadonlyArray<Hit> | Damage, StorageUnavailable> {
    for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
      const hits = yield* orDamage(this.#reader.read(api, session, packs))
      if (!(hits instanceof Damage) || attemptsLeft === 1) return hits
    }
  })

  /**
   * The lowest pack that carries each text of a session, for those that an event or one of the nearest older ones has. It is cut where
   * the request has read too much.
   */
  readonly #firstOf = Effect.fnUntraced(function* (
    this: Search,
    event: EventPack,
    hits: ReadonlyArray<Hit>,
    { api, session }: EventSummary,
    scanned: ScannedSession
  ): Effect.fn.Return<{ readonly first: ReadonlyMap<string, number>; readonly isCut: boolean }, StorageUnavailable> {
    yield* this.#scan.lookBack(scanned, maxBackBytes)
    let texts = this.#texts.get(event.session)
    if (texts === undefined) {
      if (!hasOlder(scanned, event.pack)) return { first: new Map(), isCut: false }
      texts = yield* this.#textsOf(session, event, scanned)
      this.#texts.set(event.session, texts)
    }
    const { first, own, whole } = texts
    const isCarried = ({ key }: Hit) => (first.get(key) ?? event.pack) < event.pack
    const readOlder = Effect.fnUntraced(function* (
      this: Search,
      older: EventPack,
      read: (summary: EventSummary) => Run<ReadonlyArray<Hit> | Damage>
    ) {
      const summary = yield* this.#summaryOf(older.id)
      // What is damaged is said when the search comes to it.
      if (summary === undefined || summary === "damaged") return undefined
      const found = yield* read(summary)
      if (found instanceof Damage) return undefined
      for (const { key } of found) first.set(key, Math.min(older.pack, first.get(key) ?? older.pack))
      yield* Effect.yieldNow
      return found
    })
    const nearest = yield* this.#olderThan(event, session, texts, scanned)
    let isCut = false
    if (hasErased(scanned, event.pack)) {
      const ownHits = scanned.candidates.has(event.pack) ? yield* this.#read(api, event.session, [event.pack]) : []
      const ownKeys = new Set(ownHits instanceof Damage ? [] : ownHits.map(({ key }) => key))
      const left = hits.filter(({ key }) => !ownKeys.has(key))
      for (const older of nearest.slice(0, maxBackErased)) {
        if (left.every(isCarried)) break
        if (whole.has(older.pack)) continue
        isCut = this.#backContents > maxBackContents
        if (isCut) break
        const before = this.#reader.bytes
        const found = yield* readOlder.call(this, older, (summary) => this.#hitsOf(older, summary, scanned))
        this.#backContents += this.#reader.bytes - before
        if (found !== undefined) whole.set(older.pack, found)
      }
    }
    for (const older of nearest) {
      const { pack } = older
      if (hits.every(isCarried) || first.size >= maxTexts) break
      if (own.has(pack) || whole.has(pack) || !scanned.candidates.has(pack)) continue
      const found = yield* readOlder.call(this, older, ({ api }) => this.#read(api, older.session, [pack]))
      if (found === undefined) continue
      own.add(pack)
      if (!hasErased(scanned, pack)) whole.set(pack, found)
    }
    return { first, isCut }
  })

  /** The nearest older events of a session that may have the text. */
  readonly #olderThan = Effect.fnUntraced(function* (
    this: Search,
    event: EventPack,
    session: EventSummary["session"],
    texts: SessionTexts,
    scanned: ScannedSession
  ) {
    const nearest: Array<EventPack> = []
    for (let index = 0; nearest.length < maxBackEvents; index++) {
      if (index === texts.events.length && texts.after !== undefined) yield* this.#listMore(session, texts, scanned)
      const older = texts.events[index]
      if (older === undefined) break
      if (older.pack < event.pack) nearest.push(older)
    }
    return nearest
  })

  /** The events of a session that are not newer than an event. All of a session that is not long: imported ones may be older than their packs. */
  readonly #textsOf = Effect.fnUntraced(function* (
    this: Search,
    session: EventSummary["session"],
    to: EventPack,
    scanned: ScannedSession
  ) {
    const texts: SessionTexts = { events: [], after: undefined, first: new Map(), own: new Set(), whole: new Map() }
    yield* this.#listMore(session, texts, scanned)
    if (texts.after !== undefined && texts.after > to.id) texts.after = to.id
    return texts
  })

  /** Lists more events of a session, until some may have the text. */
  readonly #listMore = Effect.fnUntraced(function* (
    this: Search,
    session: EventSummary["session"],
    texts: SessionTexts,
    scanned: ScannedSession
  ) {
    const { length } = texts.events
    do {
      const query = { session, order: "desc", after: texts.after, limit: maxEvents } as const
      const { next, rows }: { next: EventId | undefined; rows: ReadonlyArray<EventPack> } =
        yield* this.#storage.findPacks(this.#project, query, {}, maxLooked)
      texts.events.push(...rows.filter(({ pack }) => isCandidate(scanned, pack)))
      texts.after = next
    } while (texts.after !== undefined && texts.events.length === length)
  })
}

/** Whether a pack of an event that was erased may have the text for a later event. */
const hasErased = ({ candidates, erased }: ScannedSession, pack: number): boolean => {
  for (const number of erased) if (number < pack && candidates.has(number)) return true
  return false
}

/** Whether an event may have the text: in its own pack, or in a piece that it has of an event that was erased. */
const isCandidate = (scanned: ScannedSession, pack: number): boolean =>
  scanned.candidates.has(pack) || hasErased(scanned, pack)

/** Why the pack of an event could not be looked at. */
const damageOf = ({ candidates, damaged, others }: ScannedSession, pack: number): Damage | undefined =>
  candidates.has(pack) || others.has(pack) ? undefined : (damaged.get(pack) ?? new Damage(`Pack ${pack} is missing`))

const hasOlder = ({ candidates }: ScannedSession, pack: number): boolean => {
  for (const candidate of candidates) if (candidate < pack) return true
  return false
}

/** One page. Works for a bounded time, and can be interrupted between two steps. */
export const search = (
  storage: Storage["Service"],
  project: ProjectId,
  query: SearchQuery,
  logDamage: DamageLog.OnDamage
): Run<SearchPage> => Effect.suspend(() => new Search(storage, project, query, logDamage).page(query))
