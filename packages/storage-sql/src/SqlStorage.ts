/**
 * Storage over a `SqlClient` for SQLite, Postgres, or a database compatible with one of them. What differs between them is in `dialect/`;
 * tables are created in `migrations/`, and distributed in `Distribution.ts`.
 */
import { type AppendEvent, type AppendSteps, type ProjectId, type SessionId, Storage } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Migrator, SqlClient, type SqlError } from "effect/sql"
import * as Inventory from "./account/Inventory.ts"
import * as Bucket from "./dialect/Bucket.ts"
import * as Dialects from "./dialect/Dialects.ts"
import * as Nodes from "./dialect/Nodes.ts"
import * as TwoPhaseCommit from "./dialect/TwoPhaseCommit.ts"
import * as Distribution from "./Distribution.ts"
import * as AppendEvents from "./append/AppendEvents.ts"
import * as NodeSlots from "./append/NodeSlots.ts"
import * as Erasure from "./erase/Erasure.ts"
import * as ErasurePace from "./erase/ErasurePace.ts"
import * as IndexRepair from "./sql/IndexRepair.ts"
import * as EmptySessions from "./erase/EmptySessions.ts"
import * as PackSweep from "./erase/PackSweep.ts"
import * as PersonDeletion from "./erase/PersonDeletion.ts"
import * as ScrubSchedule from "./erase/ScrubSchedule.ts"
import * as StepErasure from "./erase/StepErasure.ts"
import * as Migrations from "./Migrations.ts"
import * as Projects from "./names/Projects.ts"
import * as EventQueries from "./read/EventQueries.ts"
import * as PackQueries from "./read/PackQueries.ts"
import * as SessionStates from "./read/SessionStates.ts"
import * as SharedQueries from "./read/SharedQueries.ts"
import * as StepQueries from "./read/StepQueries.ts"
import * as Watermark from "./read/Watermark.ts"
import * as Derivation from "./rollup/Derivation.ts"
import * as RollupCheck from "./rollup/RollupCheck.ts"
import * as SessionQueries from "./usage/SessionQueries.ts"
import * as SortedEvents from "./usage/SortedEvents.ts"
import * as UsageQueries from "./usage/UsageQueries.ts"
import * as ReplaceFacts from "./reindex/ReplaceFacts.ts"
import * as Resources from "./resources/Resources.ts"
import * as Operations from "./sql/Operations.ts"
import * as SpaceCounters from "./space/SpaceCounters.ts"
import * as Waiting from "./waiting/Waiting.ts"

export type { Scrub } from "./erase/ScrubSchedule.ts"

export interface SqlStorageOptions {
  /** Milliseconds after which an operation fails as `storage-unavailable`. No limit by default. */
  readonly operationTimeoutMs?: number | undefined
  /** Batches of events to append concurrently. 1 by default. */
  readonly appendConcurrency?: number | undefined
  /** The client's maximum number of connections, for the metrics. 1 by default. */
  readonly connections?: number | undefined
  /** How `ping` asks the database: by `SELECT 1` by default. */
  readonly ping?: Effect.Effect<void, SqlError.SqlError> | undefined
  /** What `ping` checks besides the connection. Nothing by default. */
  readonly verify?: Effect.Effect<void, SqlError.SqlError> | undefined
  /** Frees room on a full disk, for what erases. Nothing by default. */
  readonly makeRoom?: Effect.Effect<void> | undefined
  /** Removes what was erased from the database's files. Nothing by default. */
  readonly scrub?: ScrubSchedule.Scrub | undefined
}

/** The part of the concurrent appends that one of several nodes may have: if it does not answer, the others go on. */
const maxNodeShare = 3 / 4

const make = Effect.fnUntraced(function* ({
  appendConcurrency: concurrency = 1,
  connections = 1,
  makeRoom = Effect.void,
  operationTimeoutMs,
  ping,
  scrub,
  verify = Effect.void
}: SqlStorageOptions) {
  const sql = yield* SqlClient.SqlClient
  yield* Distribution.detect
  const isDistributed = Bucket.isDistributed(sql)
  const run = yield* Operations.make({ connections, isDistributed, makeRoom, operationTimeoutMs })
  const { erasing, operation, operationOf, reading } = run
  const requestScrub = scrub === undefined ? Effect.void : yield* ScrubSchedule.make(scrub, erasing("scrub", scrub.run))
  // Each node takes a batch. Other operations keep some connections.
  const appendConcurrency = isDistributed ? Math.max(concurrency, Math.floor(0.8 * connections)) : concurrency
  const nodes = isDistributed
    ? {
        laneOf: (session: SessionId) => Bucket.laneOf(sql, session),
        nodeOf: (lane: number) => Nodes.ofLane(sql, lane),
        concurrency: Math.max(1, Math.floor(maxNodeShare * appendConcurrency)),
        checkCommits: operationOf("checkCommits", TwoPhaseCommit.refuseInDoubt(sql))
      }
    : undefined
  const projects = Projects.make(sql)
  const repairs = IndexRepair.make(sql)
  const derivation = Derivation.make(sql, projects, repairs)
  const appending = AppendEvents.make(sql, projects, derivation, yield* Clock.Clock)
  const { getEvent, ...events } = EventQueries.make(sql, projects)
  const { readPackRanges, readPacks } = PackQueries.make(sql, projects)
  const { readShared, sharedTextBytes } = SharedQueries.make(sql, projects)
  const erasure = Erasure.make(sql, projects, derivation, requestScrub, repairs)
  const people = PersonDeletion.make(sql, projects, requestScrub, repairs)
  const sweep = PackSweep.make(sql, projects, requestScrub, repairs)
  const { rulesInUse, usage } = SpaceCounters.make(sql, projects)
  const { watermark } = Watermark.make(sql, projects)
  // With several connections, erasures and appends do not wait for each other.
  const pace = connections === 1 ? yield* ErasurePace.make() : ErasurePace.unlimited
  const inSlot = nodes && NodeSlots.make(nodes)
  const appendEvents = operation("appendEvents", (events: ReadonlyArray<AppendEvent>) => {
    const append = appending.appendEvents(events)
    return inSlot === undefined ? append : inSlot(events[0]?.summary.session, append)
  })
  const appendSteps = operation("appendSteps", (project: ProjectId, groups: ReadonlyArray<AppendSteps>) => {
    const append = appending.appendSteps(project, groups)
    return inSlot === undefined ? append : inSlot(groups[0]?.session, append)
  })
  const appendAtOnce = appending.appendAtOnce && run.operationAtOnce("appendEvents", appending.appendAtOnce)
  const eraseEvents = erasing("eraseEvents", erasure.eraseEvents)
  const eraseSteps = erasing("eraseSteps", StepErasure.make(sql, projects, requestScrub, repairs).eraseSteps)
  const deleteEmptySession = erasing(
    "deleteEmptySession",
    EmptySessions.make(sql, projects, requestScrub, repairs).deleteEmptySession
  )
  const deriveEvents = operation("deriveEvents", derivation.deriveEvents)
  const sweepPacks = erasing("sweepPacks", sweep.sweepPacks)

  return Storage.of({
    appendConcurrency,
    nodes,
    appendEvents: (events) => pace.append(appendEvents(events)),
    appendSteps: (...args) => pace.append(appendSteps(...args)),
    appendAtOnce:
      appendAtOnce &&
      ((events) => {
        pace.note()
        return appendAtOnce(events)
      }),
    ...run.operations({
      watermark,
      sharedTextBytes,
      rulesInUse,
      usage,
      ...events,
      ...ReplaceFacts.make(sql, projects, derivation),
      ...SessionStates.make(sql, projects),
      ...StepQueries.make(sql, projects),
      ...SessionQueries.make(sql, projects, watermark),
      ...SortedEvents.make(sql, projects),
      ...UsageQueries.make(sql, projects),
      ...RollupCheck.make(sql, projects),
      ...Waiting.make(sql, projects),
      listPendingSweep: sweep.listPendingSweep,
      dropDerived: derivation.dropDerived,
      listProjects: projects.list
    }),
    getEvent: reading("getEvent", getEvent),
    readPacks: reading("readPacks", readPacks),
    readPackRanges: reading("readPackRanges", readPackRanges),
    readShared: reading("readShared", readShared),
    eraseEvents: (...args) => pace.erase(eraseEvents(...args)),
    eraseSteps: (...args) => pace.erase(eraseSteps(...args)),
    deleteEmptySession: (...args) => pace.erase(deleteEmptySession(...args)),
    sweepPacks: (...args) => pace.erase(sweepPacks(...args)),
    deletePerson: erasing("deletePerson", people.deletePerson),
    deriveEvents: (...args) => pace.erase(deriveEvents(...args)),
    ...Inventory.make(sql, projects, run),
    ...Resources.make(sql, projects, run),
    waitUntilKept: operationOf("waitUntilKept", Dialects.of(sql).waitUntilKept),
    ping: operationOf("ping", Effect.andThen(ping ?? sql`SELECT 1`, verify))
  })
})

/** Fails if the tables are not up to date. Changes no tables, so its role needs no right to. */
export const layerNoMigrations = (
  options: SqlStorageOptions = {}
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Layer.effect(Storage, make(options)).pipe(Layer.provide(Layer.effectDiscard(Migrations.check)))

/** Migrates the tables first. */
export const layer = (
  options: SqlStorageOptions = {}
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Layer.effect(Storage, make(options)).pipe(Layer.provide(Layer.effectDiscard(Migrations.run)))
