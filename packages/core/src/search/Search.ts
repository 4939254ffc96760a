/**
 * Finds texts in what events carry: goes through the events from the newest to the oldest, looks at the packs of each without
 * parsing them, and reads the texts of those that may have the needle. A text is found once in a session: with the event that first
 * carried it.
 */
import { isInstruction } from "@tachograph/formats/normal/Instructions"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Result } from "../storage/Result.ts"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { Role } from "../domain/Role.ts"
import * as Uuid from "../domain/Uuid.ts"
import { Damage } from "../payload/format/Damage.ts"
import type * as DamageLog from "../read/DamageLog.ts"
import type { Storage } from "../Storage.ts"
import type { EventQuery, FieldFilter } from "../storage/Lists.ts"
import type { EventPack } from "../storage/Stored.ts"
import { FirstCarriers, hasErased } from "./FirstCarriers.ts"
import { type Hit, HitReader } from "./Hits.ts"
import { Needle } from "./Needle.ts"
import { PackScan, type ScannedSession } from "./PackScan.ts"

/** What a request looks at before it answers where to go on: bytes that were unpacked, and time (ms). */
const maxBytes = 64 * 1024 * 1024
const maxMs = 500

/** Events whose packs are asked for at once: at first, and at most. */
const firstEvents = 64
const maxEvents = 1024

/** Events that are looked at for them, where there is no index for the filter. */
const maxLooked = 10_000

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
  /** Who said it; undefined: all but instructions. */
  readonly roles: ReadonlyArray<Role> | "any" | undefined
  readonly names: Pick<
    EventQuery,
    "session" | "agent" | "agentVersion" | "person" | "above" | "below" | "fromMs" | "toMs"
  >
  readonly fields: FieldFilter
  readonly after: SearchPlace | undefined
  /** At least 1. */
  readonly limit: number
  /** A page ends with the first result in the last one of so many sessions. At least 1. */
  readonly maxSessions: number | undefined
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

/** Whether a role is one of those. Providers have two names for instructions. */
const soughtIn = (roles: SearchQuery["roles"]): ((role: string) => boolean) => {
  if (roles === "any") return () => true
  if (roles === undefined) return (role) => !isInstruction({ role })
  return (role) => roles.some((each) => each === (isInstruction({ role }) ? "system" : role))
}

class Search {
  readonly #storage: Storage["Service"]
  readonly #project: ProjectId
  readonly #scan: PackScan
  readonly #carriers: FirstCarriers
  readonly #logDamage: DamageLog.OnDamage

  constructor(storage: Storage["Service"], project: ProjectId, query: SearchQuery, logDamage: DamageLog.OnDamage) {
    const needle = new Needle(query.text, query.isCaseSensitive)
    this.#storage = storage
    this.#project = project
    this.#scan = new PackScan(storage, project, needle)
    const reader = new HitReader(storage, project, { needle, isSought: soughtIn(query.roles) }, this.#scan)
    this.#carriers = new FirstCarriers(storage, project, this.#scan, reader, logDamage)
    this.#logDamage = logDamage
  }

  readonly page = Effect.fnUntraced(function* (
    this: Search,
    { after, fields, limit, maxSessions, names }: SearchQuery
  ): Effect.fn.Return<SearchPage, StorageUnavailable> {
    const started = yield* Clock.currentTimeMillis
    const results: Array<SearchResult> = []
    const sessions = new Set<SearchResult["event"]["session"]>()
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
        const isWithout = () => scanned.from <= 1 && !hasErased(scanned, event.pack)
        if (scanned.others.has(event.pack) && (!scanned.isOfErased || isWithout())) {
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
        if (taken.length > 0) sessions.add(found.summary!.session)
        if (skipped + taken.length < found.hits.length) {
          return { results, damaged, next: { event: event.id, given: skipped + taken.length } }
        }
        last = event.id
        isBegun = true
        if (results.length === limit || sessions.size === maxSessions)
          return { results, damaged, next: { event: last, given: undefined } }
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
    if (scanned.isOfErased) yield* this.#carriers.lookBack(scanned)
    if (scanned.others.has(event.pack) && !hasErased(scanned, event.pack)) return nothing
    const damage = damageOf(scanned, event.pack)
    const summary = yield* this.#carriers.summaryOf(event.id)
    if (summary === undefined) return nothing
    if (summary === "damaged") return { ...nothing, isDamaged: true }
    const hits = damage ?? (yield* this.#carriers.hitsOf(event, summary, scanned))
    if (hits instanceof Damage) {
      // Erased meanwhile: its pack is gone, not damaged.
      if ((yield* this.#carriers.summaryOf(event.id)) === undefined) return nothing
      yield* this.#logDamage(event.id, hits)
      return { ...nothing, isDamaged: true }
    }
    if (hits.length === 0) return nothing
    const { first, isCut } = yield* this.#carriers.firstOf(event, hits, summary, scanned)
    const own = hits.filter(({ key }) => (first.get(key) ?? event.pack) >= event.pack)
    return { summary, hits: own.toReversed(), isDamaged: false, isCut }
  })
}

/** Why the pack of an event could not be looked at. */
const damageOf = ({ candidates, damaged, others }: ScannedSession, pack: number): Damage | undefined =>
  candidates.has(pack) || others.has(pack) ? undefined : (damaged.get(pack) ?? new Damage(`Pack ${pack} is missing`))

/** One page. Works for a bounded time, and can be interrupted between two steps. */
export const search = (
  storage: Storage["Service"],
  project: ProjectId,
  query: SearchQuery,
  logDamage: DamageLog.OnDamage
): Result<SearchPage> => Effect.suspend(() => new Search(storage, project, query, logDamage).page(query))
