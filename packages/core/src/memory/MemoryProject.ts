/** A project of the memory storage. All operations are synchronous, and therefore atomic. */
import * as Audit from "../audit/Audit.ts"
import type { StoredAudit } from "../domain/AuditEntry.ts"
import * as DateTime from "effect/DateTime"
import { Agent, type AgentName } from "../domain/Agent.ts"
import { AgentVersion, type AgentVersionName } from "../domain/AgentVersion.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import * as EventTime from "../domain/EventTime.ts"
import type { FingerprintId } from "../domain/Fingerprint.ts"
import { type Idempotency, idempotencyKeyTtl } from "../domain/IdempotencyKey.ts"
import * as JsonText from "../domain/JsonText.ts"
import { isFirst, type Named } from "../domain/Named.ts"
import { Person, type PersonId } from "../domain/Person.ts"
import type { SessionId } from "../domain/Session.ts"
import type { EventChecksums } from "../domain/EventChecksums.ts"
import { checksumOf } from "../payload/format/SharedPiece.ts"
import { idempotencyKeyOf } from "../sessions/SessionKey.ts"
import { MemorySession } from "./MemorySession.ts"
import * as EventMatch from "../storage/EventMatch.ts"
import type { AppendEvent, NewPack, TakenKey } from "../storage/Appending.ts"
import type { Erasable, ErasedAtLast, SweepChanges } from "../storage/Erasing.ts"
import type { ListedShared, SessionEvent } from "../storage/Inventory.ts"
import type { AuditQuery, EventQuery, FieldFilter, ListPage } from "../storage/Lists.ts"
import type { AppendSteps, StepNames } from "../storage/Steps.ts"
import type { FactsChange, RulesInUse, StoredFingerprint } from "../storage/Stored.ts"

interface AgentEntry {
  readonly agent: Agent
  readonly versions: Map<AgentVersionName, AgentVersion>
}

interface PersonEntry {
  readonly person: Person
  /** Numbered from 1 within the project, in the order of creation. */
  readonly number: number
}

interface EventEntry {
  readonly id: EventId
  readonly summary: EventSummary
  readonly checksums: EventChecksums
  readonly rules: string
  readonly metadata: JsonText.JsonText | null
  readonly session: MemorySession
  readonly pack: number
}

const isInForce = ({ receivedAt }: TakenKey, now: DateTime.Utc): boolean =>
  DateTime.isLessThan(now, DateTime.addDuration(receivedAt, idempotencyKeyTtl))

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

export class MemoryProject {
  readonly agents = new Map<AgentName, AgentEntry>()
  readonly people = new Map<PersonId, PersonEntry>()
  readonly fingerprints = new Map<FingerprintId, StoredFingerprint>()
  /** Ordered by id. */
  readonly events: Array<EventEntry> = []
  readonly eventsById = new Map<EventId, EventEntry>()
  readonly sessions = new Map<SessionId, MemorySession>()
  readonly sessionsByNumber = new Map<number, MemorySession>()
  readonly shared = new Map<
    string,
    { readonly sha256: Uint8Array; readonly bytes: Uint8Array; readonly size: number }
  >()
  /** The latest last. */
  readonly audit: Array<StoredAudit> = []
  /** By session and key, in insertion order, which is nearly the order of `receivedAt`. */
  readonly #keys = new Map<string, TakenKey>()
  /** The greatest id of an event that was erased. */
  #erasedTo = EventTime.lowestId
  /** The highest numbers that a session and a person got. */
  lastSession = 0
  lastPerson = 0

  appendAudit(entry: StoredAudit): void {
    const oldest = Audit.oldestBeside(entry)
    while (this.audit[0] !== undefined && this.audit[0].id < oldest) this.audit.shift()
    this.audit.push(entry)
  }

  listAudit({ above = "", below = "~", limit }: AuditQuery): ListPage<StoredAudit, string> {
    const found = this.audit.filter(({ id }) => id > above && id < below).toReversed()
    return { rows: found.slice(0, limit), next: found.length > limit ? found[limit - 1]!.id : undefined }
  }

  putAgent(fields: Omit<Agent, "number">): AgentEntry {
    const existing = this.agents.get(fields.name)
    if (existing !== undefined && !isFirst(fields, existing.agent)) return existing
    const { description, name } = fields
    const { createdAt, number } = existing?.agent ?? { createdAt: fields.createdAt, number: this.agents.size + 1 }
    const agent = new Agent({ name, number, createdAt, description, ...namedOnly(fields) })
    const entry = { agent, versions: existing?.versions ?? new Map() }
    this.agents.set(name, entry)
    return entry
  }

  putPerson(fields: Person): Person {
    const existing = this.people.get(fields.id)
    if (existing !== undefined && !isFirst(fields, existing.person)) return existing.person
    const { id, properties } = fields
    const { createdAt } = existing?.person ?? fields
    const person = new Person({ id, properties, createdAt, ...namedOnly(fields) })
    this.people.set(id, { person, number: existing?.number ?? ++this.lastPerson })
    return person
  }

  #sessionOf(id: SessionId): MemorySession {
    let session = this.sessions.get(id)
    if (session === undefined) {
      session = new MemorySession(id, ++this.lastSession)
      this.sessions.set(id, session)
      this.sessionsByNumber.set(session.state.number, session)
    }
    return session
  }

  /** The unexpired use of the event's idempotency key, if any. */
  keyTaken({ idempotency, project, summary }: AppendEvent): TakenKey | undefined {
    const taken = idempotency && this.#keys.get(idempotencyKeyOf(project, summary.session, idempotency.key))
    return taken && isInForce(taken, summary.receivedAt) ? taken : undefined
  }

  #takeKey({ project, summary }: AppendEvent, idempotency: Idempotency): void {
    // Removes expired keys from the front.
    for (const [key, taken] of this.#keys) {
      if (isInForce(taken, summary.receivedAt)) break
      this.#keys.delete(key)
    }
    const { id, receivedAt, session } = summary
    const name = idempotencyKeyOf(project, session, idempotency.key)
    this.#keys.delete(name)
    this.#keys.set(name, { project, session, idempotency, id, receivedAt })
  }

  /** The newest event, or one that was erased since, of those which are not too far in the future. */
  watermark(now: number): EventId {
    const limit = EventTime.limitOf(now)
    const newest = this.events.findLast(({ id }) => id < limit)?.id ?? EventTime.lowestId
    return newest > this.#erasedTo ? newest : this.#erasedTo
  }

  /** Returns the session. */
  #appendPack(
    { agent, agentVersion, person, receivedAt, session: name }: StepNames,
    pack: NewPack,
    isOfSteps: boolean
  ): MemorySession {
    const session = this.#sessionOf(name)
    const created = { createdAt: receivedAt, isNamedOnly: true }
    const agentEntry = this.putAgent({ name: agent, description: "", ...created })
    putVersion(agentEntry, { name: agentVersion, description: null, ...created })
    if (person !== null) this.putPerson({ id: person, properties: JsonText.unsafe("{}"), ...created })
    for (const { bytes, sha256, size } of pack.shared) {
      const name = hexOf(sha256)
      if (!this.shared.has(name)) this.shared.set(name, { sha256, bytes: bytes(), size })
      session.owned.add(name)
    }
    session.append(pack, agent, isOfSteps)
    return session
  }

  /** Returns the session's number. */
  append(event: AppendEvent): number {
    const { checksums, idempotency, metadata = null, pack, rules, summary } = event
    const { id } = summary
    if (idempotency !== undefined) this.#takeKey(event, idempotency)
    const session = this.#appendPack(summary, pack, false)
    const entry = { id, summary, checksums, rules, metadata, session, pack: pack.number }
    this.eventsById.set(id, entry)
    this.events.splice(this.#indexAfter(id), 0, entry)
    return session.state.number
  }

  appendSteps({ pack, steps, ...names }: AppendSteps): void {
    const session = this.#appendPack(names, pack, true)
    const { number: sessionNumber } = session.state
    session.appendSteps(steps.map((step) => ({ ...names, ...step, sessionNumber, pack: pack.number })))
  }

  /** The index of the first event with a greater id. Checks the end first, where new events nearly always belong. */
  #indexAfter(id: EventId): number {
    let low = 0
    let high = this.events.length
    if (high > 0 && this.events[high - 1]!.summary.id <= id) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.events[middle]!.summary.id <= id) low = middle + 1
      else high = middle
    }
    return low
  }

  list(query: EventQuery): ReadonlyArray<EventEntry> {
    return this.find(query, {}, Number.POSITIVE_INFINITY).rows
  }

  find(query: EventQuery, fields: FieldFilter, maxLooked: number): ListPage<EventEntry, EventId> {
    const { above, after, below, limit, order } = query
    const isMatch = EventMatch.of(query, fields)
    const rows: Array<EventEntry> = []
    const step = order === "asc" ? 1 : -1
    const indexAfter = after === undefined ? undefined : this.#indexAfter(after)
    let index = order === "asc" ? (indexAfter ?? 0) : (indexAfter ?? this.events.length) - 1
    // The cursor's own event was on the previous page.
    if (order === "desc" && this.events[index]?.summary.id === after) index--
    let looked = 0
    let last: EventId | undefined
    for (; index >= 0 && index < this.events.length; index += step) {
      const entry = this.events[index]!
      if (rows.length === limit) return { rows, next: rows.at(-1)?.id }
      if (looked === maxLooked) return { rows, next: last }
      if ((above !== undefined && entry.id <= above) || (below !== undefined && entry.id >= below)) continue
      looked++
      last = entry.id
      if (isMatch(entry.summary)) rows.push(entry)
    }
    return { rows, next: undefined }
  }

  /** Returns how many events it has changed. */
  replaceFacts(session: number, rules: string, changes: ReadonlyArray<FactsChange>): number {
    let replaced = 0
    for (const { checksum, summary, was } of changes) {
      const entry = this.eventsById.get(summary.id)
      const isAsExpected = entry?.session.state.number === session && entry.checksums.summary === was
      if (!isAsExpected || entry.rules === rules) continue
      const changed = { ...entry, summary, rules, checksums: { ...entry.checksums, summary: checksum } }
      this.eventsById.set(summary.id, changed)
      this.events[this.events.indexOf(entry)] = changed
      replaced++
    }
    return replaced
  }

  rulesInUse(): ReadonlyArray<RulesInUse> {
    const groups = Map.groupBy(this.events, ({ rules }) => rules)
    return Array.from(groups, ([rules, events]) => ({ rules, events: events.length }))
  }

  erase(which: Erasable, limit: number): number {
    const erased = this.events.filter(({ summary }) => isErasable(summary, which)).slice(0, limit)
    for (const { pack, session, summary } of erased) {
      this.eventsById.delete(summary.id)
      if (summary.id > this.#erasedTo) this.#erasedTo = summary.id
      session.erase(pack)
    }
    for (const [key, { id }] of this.#keys) if (!this.eventsById.has(id)) this.#keys.delete(key)
    const remaining = this.events.filter(({ summary }) => this.eventsById.has(summary.id))
    this.events.splice(0, this.events.length, ...remaining)
    return erased.length
  }

  /** Ends a sweep: deletes shared pieces that no session owns any more, and the session if it has no events. */
  finishSweep(
    session: MemorySession,
    { owned, pendingSweep, remaining }: NonNullable<SweepChanges<unknown>["done"]>
  ): ErasedAtLast {
    const isSwept = session.pendingSweep === pendingSweep
    // The counter keeps its absolute value, so that a slower sweep cannot mistake a later erasure for one it has covered.
    if (isSwept) session.pendingSweep = -Math.abs(pendingSweep)
    if (isSwept) session.erasedPieces = session.state.history + session.state.parts - remaining
    session.owned.clear()
    for (const name of owned) session.owned.add(hexOf(name))
    let pieces = 0
    let bytes = 0
    for (const [name, shared] of this.shared) {
      if (this.#isOwned(name)) continue
      this.shared.delete(name)
      pieces++
      bytes += shared.bytes.length
    }
    const isEmpty = isSwept && !this.hasEvents(session) && session.steps.length === 0
    if (isEmpty) this.#drop(session)
    return { pieces, bytes, session: isEmpty }
  }

  /** Deletes a session that has no events. */
  deleteEmpty(session: MemorySession, limit: number): ErasedAtLast | undefined {
    if (this.hasEvents(session)) return undefined
    session.steps = []
    const isLast = session.packs.size < limit
    const bytes = session.deletePacks(limit)
    if (!isLast) return { pieces: 0, bytes, session: false }
    const pieces = session.state.history + session.state.parts - session.erasedPieces
    const erased = this.finishSweep(session, { owned: [], pendingSweep: session.pendingSweep, remaining: 0 })
    return { ...erased, pieces: pieces + erased.pieces, bytes: bytes + erased.bytes }
  }

  hasEvents(session: MemorySession): boolean {
    return this.events.some((entry) => entry.session === session)
  }

  #drop(session: MemorySession): void {
    this.sessions.delete(session.id)
    this.sessionsByNumber.delete(session.state.number)
  }

  sessionEvents(session: number, after: SessionEvent | undefined, limit: number): ReadonlyArray<SessionEvent> {
    const isAfter = ({ agent, id }: SessionEvent) =>
      after === undefined || agent > after.agent || (agent === after.agent && id > after.id)
    return this.events
      .filter((entry) => entry.session.state.number === session)
      .map(({ id, summary }) => ({ id, agent: this.agents.get(summary.agent)!.agent.number }))
      .filter(isAfter)
      .sort((a, b) => a.agent - b.agent || (a.id < b.id ? -1 : 1))
      .slice(0, limit)
  }

  listShared(after: Uint8Array | undefined, maxBytes: number): ReadonlyArray<ListedShared> {
    const afterName = after === undefined ? "" : hexOf(after)
    let bytesLeft = maxBytes
    return Array.from(this.shared)
      .filter(([name]) => name > afterName)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .filter(([, { bytes }], index) => (bytesLeft -= bytes.length) >= 0 || index === 0)
      .map(([name, piece]) => ({ ...piece, isOwned: this.#isOwned(name), checksum: checksumOf(piece.bytes) }))
  }

  #isOwned(name: string): boolean {
    return Array.from(this.sessions.values()).some(({ owned }) => owned.has(name))
  }
}

const isErasable = (summary: EventSummary, which: Erasable): boolean => {
  if ("person" in which) return summary.person === which.person
  if ("session" in which) return summary.session === which.session
  if ("event" in which) return summary.id === which.event
  return summary.id < which.before
}

const namedOnly = ({ isNamedOnly = false }: Named): Named => (isNamedOnly ? { isNamedOnly } : {})

export const putVersion = (
  { versions }: AgentEntry,
  fields: Omit<AgentVersion, "number" | "deprecatedAt">
): AgentVersion => {
  const { description, name } = fields
  const existing = versions.get(name)
  if (existing !== undefined && !isFirst(fields, existing)) return existing
  const { createdAt, deprecatedAt, number } = existing ?? {
    createdAt: fields.createdAt,
    deprecatedAt: null,
    number: versions.size + 1
  }
  const version = new AgentVersion({ name, description, number, createdAt, deprecatedAt, ...namedOnly(fields) })
  versions.set(name, version)
  return version
}
