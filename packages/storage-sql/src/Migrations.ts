/** Brings the tables up to date: each migration runs once, under a lock, however many processes start together. */
import { Migrator } from "effect/sql"
import initial from "./migrations/0001Initial.ts"

/** Forward only: a migration that was released is never edited. */
const migrations = { "0001_initial": initial }

/** Answers what it ran, which is nothing where the tables are up to date. */
export const run = Migrator.make({})({
  loader: Migrator.fromRecord(migrations),
  table: "tachograph_migrations"
})
