/**
 * Keeps people from being deleted while their events are appended to a distributed database. All nodes hold all people. An append
 * locks the copies on its own node, and a deletion those on all nodes: each waits for the other one.
 */
import * as Effect from "effect/Effect"
import { type SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as SqlFailure from "../SqlFailure.ts"

/** Call it in a transaction. Fails, for another attempt, if a person was deleted since its number was read, or is not on the node yet. */
export const lock = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  project_id: number,
  /** Sessions, and the people with events in them. */
  uses: ReadonlyArray<{ readonly session: number; readonly person: number }>
) {
  for (const { buckets, rows } of Bucket.split(sql, uses, ({ session }) => Bucket.ofNumber(session))) {
    const people = Array.from(new Set(rows.map(({ person }) => person)))
    // A row of the node makes it the one that is asked.
    const locked = yield* sql`SELECT p.person_number FROM sessions s JOIN people p ON p.project_id = s.project_id
      WHERE s.project_id = ${project_id} AND s.session_number = ${rows[0]!.session}${Bucket.and(sql, buckets, "s.")}
        AND ${BulkValues.isAmong(sql, "p.person_number", "integer", people)}
      ORDER BY p.person_number FOR SHARE OF p`
    if (locked.length < people.length) {
      const message = "A person was deleted, or has not reached a node, while events of it were appended"
      return yield* SqlFailure.make(SqlError.SerializationError, "append", message)
    }
  }
})

/** Locks a person on all nodes until the transaction ends. */
export const lockEverywhere = (sql: SqlClient.SqlClient, project_id: number, person: string) =>
  sql`UPDATE people SET properties = properties WHERE project_id = ${project_id} AND person_id = ${person}`
