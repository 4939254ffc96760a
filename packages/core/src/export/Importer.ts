/**
 * Takes what an export has written: events keep their ids and times, and names their times. Nothing that exists is changed, so that an
 * import can be run again; only a name that events alone have used so far gets its description or properties.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { Agent, AgentName } from "../domain/Agent.ts"
import type { AgentVersion } from "../domain/AgentVersion.ts"
import {
  type AgentNotFound,
  EventIdInvalid,
  EventIdTaken,
  FingerprintIdTaken,
  type StorageUnavailable
} from "../domain/Errors.ts"
import { type EventId, type EventSummary, callFields } from "../domain/Event.ts"
import * as EventTime from "../domain/EventTime.ts"
import * as Fingerprint from "../domain/Fingerprint.ts"
import { isFirst } from "../domain/Named.ts"
import type { Person } from "../domain/Person.ts"
import { CurrentProject } from "../domain/Project.ts"
import * as Bucket from "../sessions/Bucket.ts"
import type { Storage } from "../Storage.ts"
import type { AppendEvent } from "../storage/Appending.ts"
import type { StoredSummary } from "../storage/Stored.ts"
import type { Result } from "../storage/Result.ts"

/**
 * `imported`: it is stored now. `exists`: the same is there already. `kept`: another one of this name is there, which is not changed.
 */
export type Imported = "imported" | "exists" | "kept"

export interface Importer {
  /** The agent without its number, which it gets here. */
  readonly importAgent: (agent: Omit<Agent, "number">) => Result<Imported>
  /** A version that exists is deprecated if this one is. */
  readonly importAgentVersion: (
    agent: AgentName,
    version: Omit<AgentVersion, "number">
  ) => Result<Imported, AgentNotFound>
  readonly importPerson: (person: Person) => Result<Imported>
  /** Under the id that it had, which is another one than it gets here where the project has another name. */
  readonly importFingerprint: (fingerprint: Fingerprint.RegisteredFingerprint) => Result<Imported, FingerprintIdTaken>
}

/** How far the time in an id may be ahead of the clock (ms): that of the server that gave it may be fast. */
const maxAheadMs = 10 * 60_000

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Fails if an event of this session cannot have this id here. */
export const checkId = Effect.fnUntraced(function* (
  id: EventId,
  session: string
): Effect.fn.Return<void, EventIdInvalid> {
  const isPossible = uuid7.test(id) && Bucket.ofId(id) === Bucket.ofSession(session)
  if (!isPossible || EventTime.of(id) > (yield* Clock.currentTimeMillis) + maxAheadMs)
    return yield* new EventIdInvalid()
})

/** What an event was sent with. What is read from its texts, and its cost, may be read otherwise today. */
const sentFields = [
  ...(Object.keys(callFields) as Array<keyof typeof callFields>),
  "id",
  "receivedAt",
  "inputsBytes",
  "outputBytes"
] as const satisfies ReadonlyArray<keyof EventSummary>

const plain = (value: unknown): unknown => {
  if (DateTime.isDateTime(value)) return value.epochMilliseconds
  return typeof value === "object" ? JSON.stringify(value) : value
}

/** Whether an event that is stored is the one that is imported. Fails if it is another one, or is damaged. */
export const compare = (
  stored: StoredSummary,
  { checksums, summary }: Pick<AppendEvent, "summary" | "checksums">
): Effect.Effect<"exists", EventIdTaken> => {
  const own = stored.summary
  const isSame =
    own !== undefined &&
    stored.checksums.texts === checksums.texts &&
    sentFields.every((field) => plain(own[field]) === plain(summary[field]))
  return isSame ? Effect.succeed("exists") : Effect.fail(new EventIdTaken())
}

/** Compares what is imported of it. */
const isSame = <A extends object>(imported: A, existing: A): boolean =>
  (Object.keys(imported) as Array<keyof A>).every((field) => plain(imported[field]) === plain(existing[field]))

const resultOf = (isEqual: boolean): Imported => (isEqual ? "exists" : "kept")

export const make = (storage: Storage["Service"]): Importer => ({
  importAgent: Effect.fn("Recorder.importAgent")(function* (agent) {
    const project = yield* CurrentProject
    const existing = yield* found(storage.getAgent(project, agent.name))
    if (existing !== undefined && !isFirst(agent, existing))
      return resultOf(isSame<Omit<Agent, "number">>(agent, existing))
    yield* storage.putAgent(project, agent)
    return "imported"
  }),

  importAgentVersion: Effect.fn("Recorder.importAgentVersion")(function* (agent, { deprecatedAt, ...version }) {
    const project = yield* CurrentProject
    yield* storage.getAgent(project, agent)
    const existing = yield* found(storage.getAgentVersion(project, agent, version.name))
    const isPut = existing === undefined || isFirst(version, existing)
    if (isPut) yield* storage.putAgentVersion(project, agent, version)
    const isDeprecated = deprecatedAt !== null && (existing?.deprecatedAt ?? null) === null
    if (isDeprecated) yield* Effect.orDie(storage.deprecateAgentVersion(project, agent, version.name, deprecatedAt))
    if (isPut || isDeprecated) return "imported"
    return resultOf(isSame<Omit<AgentVersion, "number">>({ ...version, deprecatedAt }, existing))
  }),

  importPerson: Effect.fn("Recorder.importPerson")(function* (person) {
    const project = yield* CurrentProject
    const existing = yield* found(storage.getPerson(project, person.id))
    if (existing !== undefined && !isFirst(person, existing)) return resultOf(isSame<Person>(person, existing))
    yield* storage.putPerson(project, person)
    return "imported"
  }),

  importFingerprint: Effect.fn("Recorder.importFingerprint")(function* ({ createdAt, id, ...fields }) {
    const project = yield* CurrentProject
    const text = Fingerprint.toText(new Fingerprint.Fingerprint(fields))
    const existing = yield* found(storage.getFingerprint(project, id))
    if (existing === undefined) {
      yield* storage.putFingerprint(project, { id, fields: text, createdAt })
      return "imported"
    }
    if (existing.fields !== text) return yield* new FingerprintIdTaken()
    return resultOf(plain(existing.createdAt) === plain(createdAt))
  })
})

/** Undefined if it does not exist. */
const found = <A>(
  read: Effect.Effect<A, StorageUnavailable | { readonly _tag: `${string}-not-found` }>
): Effect.Effect<A | undefined, StorageUnavailable> =>
  Effect.catchIf(
    read,
    (error): error is Exclude<typeof error, StorageUnavailable> => error._tag !== "storage-unavailable",
    () => Effect.undefined
  )
