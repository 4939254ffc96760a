/**
 * Takes what an export has written: events keep their ids and times, and names their times. Nothing that exists is changed, so that an
 * import can be run again; only a name that events alone have used so far gets its description or properties.
 */
import * as Effect from "effect/Effect"
import type { Agent, AgentName } from "../domain/Agent.ts"
import type { AgentVersion } from "../domain/AgentVersion.ts"
import { type AgentNotFound, FingerprintIdTaken, type StorageUnavailable } from "../domain/Errors.ts"
import * as Fingerprint from "../domain/Fingerprint.ts"
import { isFirst } from "../domain/Named.ts"
import type { Person } from "../domain/Person.ts"
import { CurrentProject } from "../domain/Project.ts"
import { isSame } from "../domain/Same.ts"
import type { Storage } from "../Storage.ts"
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

/** Compares what is imported of it. */
const areSame = <A extends object>(imported: A, existing: A): boolean =>
  (Object.keys(imported) as Array<keyof A>).every((field) => isSame(imported[field], existing[field]))

const resultOf = (isEqual: boolean): Imported => (isEqual ? "exists" : "kept")

export const make = (storage: Storage["Service"]): Importer => ({
  importAgent: Effect.fn("Recorder.importAgent")(function* (agent) {
    const project = yield* CurrentProject
    const existing = yield* found(storage.getAgent(project, agent.name))
    if (existing !== undefined && !isFirst(agent, existing))
      return resultOf(areSame<Omit<Agent, "number">>(agent, existing))
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
    return resultOf(areSame<Omit<AgentVersion, "number">>({ ...version, deprecatedAt }, existing))
  }),

  importPerson: Effect.fn("Recorder.importPerson")(function* (person) {
    const project = yield* CurrentProject
    const existing = yield* found(storage.getPerson(project, person.id))
    if (existing !== undefined && !isFirst(person, existing)) return resultOf(areSame<Person>(person, existing))
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
    return resultOf(isSame(existing.createdAt, createdAt))
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
