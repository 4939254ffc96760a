/** Storage over any database that `effect/sql` reaches. Dialects differ in the tables' DDL and nowhere else. */
import { Storage } from "@tachograph/core"
import { Effect, Layer } from "effect"
import { type Migrator, SqlClient, type SqlError } from "effect/sql"
import * as Erasing from "./Erasing.ts"
import * as Events from "./Events.ts"
import * as Keys from "./Keys.ts"
import * as Leases from "./Leases.ts"
import * as Migrations from "./Migrations.ts"
import * as Projects from "./Projects.ts"
import * as Resources from "./Resources.ts"
import * as Sessions from "./Sessions.ts"
import { translate } from "./SqlFailure.ts"
import * as Usage from "./Usage.ts"

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
  /** What it takes that erased text is gone from the files; nothing unless given. */
  readonly scrub?: Scrub | undefined
}

const make = Effect.fnUntraced(function* ({ deadline, lanes = 1, scrub = noScrub }: SqlStorageOptions) {
  const sql = yield* SqlClient.SqlClient
  const verb = <A, E>(effect: Effect.Effect<A, E | SqlError.SqlError>) => translate(effect, deadline)
  const projects = Projects.make(sql)
  const events = Events.make(sql, projects)
  const resources = Resources.make(sql, projects)
  const keys = Keys.make(sql, projects)
  const sessions = Sessions.make(sql, projects)
  const erasing = Erasing.make(sql, projects, scrub.due(sql))
  const usage = Usage.make(sql, projects)
  const leases = Leases.make(sql)

  return Storage.of({
    lanes,
    appendEvents: (...args) => verb(events.appendEvents(...args)),
    getEvent: (...args) => verb(events.getEvent(...args)),
    listEvents: (...args) => verb(events.listEvents(...args)),
    getSession: (...args) => verb(sessions.getSession(...args)),
    readPacks: (...args) => verb(sessions.readPacks(...args)),
    readShared: (...args) => verb(sessions.readShared(...args)),
    eraseEvents: (...args) => verb(erasing.eraseEvents(...args)),
    listUnswept: (...args) => verb(erasing.listUnswept(...args)),
    sweepPacks: (...args) => verb(erasing.sweepPacks(...args)),
    deletePerson: (...args) => verb(erasing.deletePerson(...args)),
    scrub: verb(scrub.run(sql)),
    takeLease: (...args) => verb(leases.takeLease(...args)),
    listProjects: verb(projects.list),
    usage: (...args) => verb(usage.usage(...args)),
    putFingerprint: (...args) => verb(resources.putFingerprint(...args)),
    hasFingerprint: (...args) => verb(resources.hasFingerprint(...args)),
    putAgent: (...args) => verb(resources.putAgent(...args)),
    getAgent: (...args) => verb(resources.getAgent(...args)),
    putAgentVersion: (...args) => verb(resources.putAgentVersion(...args)),
    getAgentVersion: (...args) => verb(resources.getAgentVersion(...args)),
    putPerson: (...args) => verb(resources.putPerson(...args)),
    getPerson: (...args) => verb(resources.getPerson(...args)),
    updatePerson: (...args) => verb(resources.updatePerson(...args)),
    putApiKey: (...args) => verb(keys.putApiKey(...args)),
    findApiKey: (...args) => verb(keys.findApiKey(...args)),
    listApiKeys: verb(keys.listApiKeys),
    revokeApiKey: (...args) => verb(keys.revokeApiKey(...args)),
    ping: verb(Effect.asVoid(sql`SELECT 1`))
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
