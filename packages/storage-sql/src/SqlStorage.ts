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

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const projects = Projects.make(sql)
  const events = Events.make(sql, projects)
  const resources = Resources.make(sql, projects)
  const keys = Keys.make(sql, projects)

  return Storage.of({
    appendEvents: (...args) => translate(events.appendEvents(...args)),
    getEvent: (...args) => translate(events.getEvent(...args)),
    listEvents: (...args) => translate(events.listEvents(...args)),
    putFingerprint: (...args) => translate(resources.putFingerprint(...args)),
    hasFingerprint: (...args) => translate(resources.hasFingerprint(...args)),
    putAgent: (...args) => translate(resources.putAgent(...args)),
    getAgent: (...args) => translate(resources.getAgent(...args)),
    putAgentVersion: (...args) => translate(resources.putAgentVersion(...args)),
    getAgentVersion: (...args) => translate(resources.getAgentVersion(...args)),
    putPerson: (...args) => translate(resources.putPerson(...args)),
    getPerson: (...args) => translate(resources.getPerson(...args)),
    updatePerson: (...args) => translate(resources.updatePerson(...args)),
    putApiKey: (...args) => translate(keys.putApiKey(...args)),
    findApiKey: (...args) => translate(keys.findApiKey(...args)),
    listApiKeys: translate(keys.listApiKeys),
    revokeApiKey: (...args) => translate(keys.revokeApiKey(...args)),
    ping: translate(Effect.asVoid(sql`SELECT 1`))
  })
})

/** Over tables that are up to date. */
export const layerNoMigrations: Layer.Layer<Storage, never, SqlClient.SqlClient> = Layer.effect(Storage, make)

/** Brings the tables up to date first. */
export const layer: Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =
  layerNoMigrations.pipe(Layer.provide(Layer.effectDiscard(Migrations.run)))
