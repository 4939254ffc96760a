/** With which event of a session each text was first carried, of those that exist. */
import * as Effect from "effect/Effect"
import type { Result } from "../storage/Result.ts"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import type * as DamageLog from "../read/DamageLog.ts"
import * as EventReader from "../read/EventReader.ts"
import { orDamage } from "../read/OrDamage.ts"
import type { Storage } from "../Storage.ts"
import type { EventPack } from "../storage/Stored.ts"
import type { Hit, HitReader } from "./Hits.ts"
import type { PackScan, ScannedSession } from "./PackScan.ts"
import * as StepPieces from "./StepPieces.ts"

/** What a request looks at of a session to learn whether a text was carried before (bytes). */
const maxBackBytes = 64 * 1024 * 1024

/** Older events of a session with which the texts of an event are compared: the nearest of those that may have the text. */
const maxBackEvents = 500

/** Those of them of which also what is left of erased events is read, and the contents that a request reads for that (bytes). */
const maxBackErased = 32
const maxBackContents = 16 * 1024 * 1024

/** Texts of a session that a request remembers. */
const maxTexts = 100_000

/** Events of a session that are listed at once, of how many that are looked at. */
const maxEvents = 1024
const maxLooked = 10_000

/** How often an event is read again that is damaged, because an erasure may have changed it meanwhile. */
const maxAttempts = 3

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

export class FirstCarriers {
  readonly #storage: Storage["Service"]
  readonly #project: ProjectId
  readonly #scan: PackScan
  readonly #reader: HitReader
  readonly #logDamage: DamageLog.OnDamage
  readonly #texts = new Map<number, SessionTexts>()
  /** Bytes of contents that were read to learn whether a text was carried before. */
  #backContents = 0

  constructor(
    storage: Storage["Service"],
    project: ProjectId,
    scan: PackScan,
    reader: HitReader,
    logDamage: DamageLog.OnDamage
  ) {
    this.#storage = storage
    this.#project = project
    this.#scan = scan
    this.#reader = reader
    this.#logDamage = logDamage
  }

  /** Looks at the older packs of a session. */
  readonly lookBack = (scanned: ScannedSession) => this.#scan.lookBack(scanned, maxBackBytes)

  /** Undefined if the event was erased meanwhile. */
  readonly summaryOf = (id: EventId): Result<EventSummary | "damaged" | undefined> =>
    this.#storage.getEvent(this.#project, id, 0).pipe(
      Effect.flatMap((stored) => EventReader.summaryOf(this.#project, stored, this.#logDamage)),
      Effect.catchTag("event-not-found", () => Effect.undefined),
      Effect.catchTag("event-damaged", () => Effect.succeed("damaged" as const))
    )

  /** What an event has that is new with its pack or only with packs whose events were erased, or why it is unknown. */
  readonly hitsOf = Effect.fnUntraced(function* (
    this: FirstCarriers,
    { pack, session }: EventPack,
    { api }: EventSummary,
    scanned: ScannedSession
  ): Effect.fn.Return<ReadonlyArray<Hit> | Damage, StorageUnavailable> {
    const known = this.#texts.get(session)?.whole.get(pack)
    if (known !== undefined) return known
    const isOwn = scanned.candidates.has(pack) && !hasErased(scanned, pack)
    return yield* this.#read(api, session, [...(isOwn ? [] : withoutEventsBelow(scanned, pack)), pack])
  })

  readonly #read = Effect.fnUntraced(function* (
    this: FirstCarriers,
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
  readonly firstOf = Effect.fnUntraced(function* (
    this: FirstCarriers,
    event: EventPack,
    hits: ReadonlyArray<Hit>,
    { session }: EventSummary,
    scanned: ScannedSession
  ): Effect.fn.Return<{ readonly first: ReadonlyMap<string, number>; readonly isCut: boolean }, StorageUnavailable> {
    yield* this.lookBack(scanned)
    let texts = this.#texts.get(event.session)
    if (texts === undefined) {
      if (!hasOlder(scanned, event.pack)) return { first: new Map(), isCut: false }
      texts = yield* this.#textsOf(session, event, scanned)
      this.#texts.set(event.session, texts)
    }
    const { first, own, whole } = texts
    const isCarried = ({ key }: Hit) => (first.get(key) ?? event.pack) < event.pack
    const readOlder = Effect.fnUntraced(function* (
      this: FirstCarriers,
      older: EventPack,
      read: (summary: EventSummary) => Result<ReadonlyArray<Hit> | Damage>
    ) {
      const summary = yield* this.summaryOf(older.id)
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
      // A text of the event's own pack too: an older event may have it of an erased one, in another spelling.
      for (const older of nearest.slice(0, maxBackErased)) {
        if (hits.every(isCarried)) break
        if (whole.has(older.pack)) continue
        isCut = this.#backContents > maxBackContents
        if (isCut) break
        const before = this.#reader.bytes
        const found = yield* readOlder.call(this, older, (summary) => this.hitsOf(older, summary, scanned))
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
    this: FirstCarriers,
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
    this: FirstCarriers,
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
    this: FirstCarriers,
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

/** Whether a pack of an event that was erased, or of steps, may have the text for a later event. */
export const hasErased = (scanned: ScannedSession, pack: number): boolean => {
  const { candidates, erased } = scanned
  for (const number of erased) if (number < pack && candidates.has(number)) return true
  for (const number of StepPieces.reachedBy(scanned, pack)) if (candidates.has(number)) return true
  return false
}

/** The packs of no event from which an event may have pieces, in ascending order. */
const withoutEventsBelow = (scanned: ScannedSession, pack: number): ReadonlyArray<number> =>
  Array.from(new Set([...scanned.erased, ...StepPieces.reachedBy(scanned, pack)]))
    .filter((number) => number < pack)
    .sort((a, b) => a - b)

/** Whether an event may have the text: in its own pack, or in a piece that it has of an event that was erased. */
const isCandidate = (scanned: ScannedSession, pack: number): boolean =>
  scanned.candidates.has(pack) || hasErased(scanned, pack)

const hasOlder = ({ candidates }: ScannedSession, pack: number): boolean => {
  for (const candidate of candidates) if (candidate < pack) return true
  return false
}
