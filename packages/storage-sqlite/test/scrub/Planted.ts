/** A table of people whose rows SQLite has moved between pages, so that copies of them are in unallocated space. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { SqliteClient } from "../../src/SqliteClient.ts"

// A process that is killed again and again must start fast: this imports no testkit.
const noise = (seed: number, length: number) =>
  createHash("shake256", { outputLength: length }).update(String(seed)).digest("base64").slice(0, length)

const propertiesOf = (name: string, length: number) => JSON.stringify({ name, more: noise(1, length) })

export interface Planted {
  /** Names that were deleted, and those that were not. */
  readonly erased: ReadonlyArray<string>
  readonly kept: ReadonlyArray<string>
}

/** Creates the table in the file, followed by this many pages of other rows. */
export const plant = Effect.fnUntraced(function* (sql: SqliteClient, people: number, otherPages = 0) {
  const names = Array.from({ length: people }, (_, n) => noise(n, 24))
  // A file without it is that of another program.
  yield* sql`CREATE TABLE tachograph_migrations (migration_id INTEGER PRIMARY KEY)`
  yield* sql`CREATE TABLE people (number INTEGER, changes INTEGER, name TEXT, properties TEXT, PRIMARY KEY (number))`
  yield* sql`CREATE UNIQUE INDEX people_by_name ON people (name)`
  yield* sql`CREATE TABLE others (number INTEGER PRIMARY KEY, bytes BLOB)`
  yield* sql.withTransaction(
    Effect.forEach(
      names.entries(),
      ([number, name]) => sql`INSERT INTO people VALUES (${number}, 100, ${name}, ${propertiesOf(name, 20)})`
    )
  )
  // Rows that grow overflow their pages.
  yield* sql.withTransaction(
    Effect.forEach(
      names.entries(),
      ([number, name]) =>
        sql`UPDATE people SET properties = ${propertiesOf(name, 100 + ((number * 7919) % 400))} WHERE name = ${name}`
    )
  )
  yield* sql`INSERT INTO others
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${otherPages})
    SELECT n, randomblob(3900) FROM n WHERE ${otherPages} > 0`
  const erased = names.filter((_, number) => number % 2 === 0)
  yield* sql.withTransaction(Effect.forEach(erased, (name) => sql`DELETE FROM people WHERE name = ${name}`))
  return { erased, kept: names.filter((_, number) => number % 2 === 1) }
})

/** Commits every page of the table from the cache of the connection, without moving a row. */
export const touch = (sql: SqliteClient) => sql`UPDATE people SET changes = 100 + (changes + 1) % 100`
