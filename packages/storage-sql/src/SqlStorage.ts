/** Storage over any database that `effect/sql` reaches. Dialects differ in the tables' DDL and nowhere else. */
import { Storage } from "@tachograph/core"
import { Effect, Layer } from "effect"
import { type Migrator, SqlClient, type SqlError } from "effect/sql"
import * as Events from "./Events.ts"
import * as Keys from "./Keys.ts"
import * as Migrations from "./Migrations.ts"
import * as Projects from "./Projects.ts"
import * as Resources from "./Resources.ts"
import { translate } from "./SqlFailure.ts"

export interface SqlStorageOptions {
  /** How long any one operation may take, in milliseconds; then it fails as `storage-unavailable`. No limit unless given. */
  readonly deadline?: number | undefined
}

const make = Effect.fnUntraced(function* ({ deadline }: SqlStorageOptions) {
  const sql = yield* SqlClient.SqlClient
  const verb = <A, E>(effect: Effect.Effect<A, E | SqlError.SqlError>) => translate(effect, deadline)
  const projects = Projects.make(sql)
  const events = Events.make(sql, projects)
  const resources = Resources.make(sql, projects)
  const keys = Keys.make(sql, projects)

  return Storage.of({
    appendEvents: (...args) => verb(events.appendEvents(...args)),
    getEvent: (...args) => verb(events.getEvent(...args)),
    listEvents: (...args) => verb(events.listEvents(...args)),
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
