/** Storage over any database that `effect/sql` reaches. Dialects differ in the tables' DDL and nowhere else. */
import { Storage } from "@tachograph/core"
import { Effect, Layer } from "effect"
import { type Migrator, SqlClient, type SqlError } from "effect/sql"
import * as Erasure from "./erase/Erasure.ts"
import * as EventQueries from "./read/EventQueries.ts"
import * as ApiKeys from "./resources/ApiKeys.ts"
import * as Leases from "./resources/Leases.ts"
import * as Migrations from "./Migrations.ts"
import * as Projects from "./names/Projects.ts"
import * as Resources from "./resources/Resources.ts"
import * as PackQueries from "./read/PackQueries.ts"
import { translate } from "./sql/SqlErrors.ts"
import * as StorageMetrics from "./sql/StorageMetrics.ts"
import * as Usage from "./usage/Usage.ts"

export interface Scrub {
  /** Said in every transaction that erases, so that it is known to be due, whatever becomes of the process. */
  readonly due: (sql: SqlClient.SqlClient) => Effect.Effect<void, SqlError.SqlError>
  /** Does it, if it is due. */
  readonly run: (sql: SqlClient.SqlClient) => Effect.Effect<void, SqlError.SqlError>
}

const noScrub: Scrub = { due: () => Effect.void, run: () => Effect.void }

export interface SqlStorageOptions {
  /** How long any one operation may take, in milliseconds; then it fails as `storage-unavailable`. No limit unless given. */
  readonly deadline?: number | undefined
  /** Batches of events that the database commits at the same time. 1 unless given. */
  readonly lanes?: number | undefined
  /** Connections that the client may have at once, for the metrics to say. 1 unless given. */
  readonly connections?: number | undefined
  /** What it takes that erased text is gone from the files; nothing unless given. */
  readonly scrub?: Scrub | undefined
}

const make = Effect.fnUntraced(function* ({
  connections = 1,
  deadline,
  lanes = 1,
  scrub = noScrub
}: SqlStorageOptions) {
  const sql = yield* SqlClient.SqlClient
  const { held, timed } = yield* StorageMetrics.make(connections)
  const bounded = <A, E>(effect: Effect.Effect<A, E | SqlError.SqlError>) => translate(held(effect), deadline)
  const verb = <Args extends ReadonlyArray<unknown>, A, E>(
    name: string,
    run: (...args: Args) => Effect.Effect<A, E | SqlError.SqlError>
  ) => {
    const call = timed(name)
    return (...args: Args) => call(bounded(run(...args)))
  }
  const verbOf = <A, E>(name: string, effect: Effect.Effect<A, E | SqlError.SqlError>) => timed(name)(bounded(effect))
  const projects = Projects.make(sql)
  const events = EventQueries.make(sql, projects)
  const resources = Resources.make(sql, projects)
  const keys = ApiKeys.make(sql, projects)
  const sessions = PackQueries.make(sql, projects)
  const erasing = Erasure.make(sql, projects, scrub.due(sql))
  const usage = Usage.make(sql, projects)
  const leases = Leases.make(sql)

  return Storage.of({
    appendConcurrency: lanes,
    appendEvents: verb("appendEvents", events.appendEvents),
    getEvent: verb("getEvent", events.getEvent),
    listEvents: verb("listEvents", events.listEvents),
    getSession: verb("getSession", sessions.getSession),
    readPacks: verb("readPacks", sessions.readPacks),
    readShared: verb("readShared", sessions.readShared),
    eraseEvents: verb("eraseEvents", erasing.eraseEvents),
    listPendingSweep: verb("listPendingSweep", erasing.listUnswept),
    sweepPacks: verb("sweepPacks", erasing.sweepPacks),
    deletePerson: verb("deletePerson", erasing.deletePerson),
    scrub: verbOf("scrub", scrub.run(sql)),
    takeLease: verb("takeLease", leases.takeLease),
    listProjects: verbOf("listProjects", projects.list),
    usage: verb("usage", usage.usage),
    putFingerprint: verb("putFingerprint", resources.putFingerprint),
    hasFingerprint: verb("hasFingerprint", resources.hasFingerprint),
    putAgent: verb("putAgent", resources.putAgent),
    getAgent: verb("getAgent", resources.getAgent),
    putAgentVersion: verb("putAgentVersion", resources.putAgentVersion),
    getAgentVersion: verb("getAgentVersion", resources.getAgentVersion),
    putPerson: verb("putPerson", resources.putPerson),
    getPerson: verb("getPerson", resources.getPerson),
    updatePerson: verb("updatePerson", resources.updatePerson),
    putApiKey: verb("putApiKey", keys.putApiKey),
    findApiKey: verb("findApiKey", keys.findApiKey),
    listApiKeys: verbOf("listApiKeys", keys.listApiKeys),
    revokeApiKey: verb("revokeApiKey", keys.revokeApiKey),
    ping: verbOf("ping", Effect.asVoid(sql`SELECT 1`))
  })
})

/** Over tables that are up to date, as it checks; it changes none of them. */
export const layerNoMigrations = (
  options: SqlStorageOptions = {}
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Layer.effect(Storage, make(options)).pipe(Layer.provide(Layer.effectDiscard(Migrations.check)))

/** Brings the tables up to date first. */
export const layer = (
  options: SqlStorageOptions = {}
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Layer.effect(Storage, make(options)).pipe(Layer.provide(Layer.effectDiscard(Migrations.run)))
