/** Goes through the numbers of a project's sessions, whether or not they have a row. */
import type { ProjectId, SessionId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import { isCorruption } from "../sql/SqlErrors.ts"

/** The session numbers of these tables must exist. */
const tables = ["sessions", "events", "steps", "packs", "shared_piece_owners", "storage_usage"]

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) =>
  Effect.fn("SqlStorage.nextSession")(function* (project: ProjectId, after: number) {
    const project_id = yield* projects.find(project)
    // Session 0 stands for the project in the table of usage. One look-up in an index for each table.
    const lowest = (table: string) => sql`SELECT min(session_number) AS session_number FROM ${sql(table)}
      WHERE project_id = ${project_id} AND session_number > ${after} ${table === "storage_usage" ? sql`AND session_number <> 0` : sql.literal("")}`
    const lowestOf = (names: ReadonlyArray<string>) => sql<{ session_number: Integer; session_id: SessionId | null }>`
      SELECT n.session_number, s.session_id FROM (
        SELECT min(session_number) AS session_number FROM (${sql.join(" UNION ALL ", false)(names.map(lowest))}) m) n
      LEFT JOIN sessions s ON s.project_id = ${project_id} AND s.session_number = n.session_number
      WHERE n.session_number IS NOT NULL`
    // One damaged page must not hide all sessions. What is unreadable is reported when their rows are counted.
    if (Bucket.isDistributed(sql)) {
      // All nodes are asked for the lowest number, and one for its name.
      const numbers = yield* Effect.forEach(
        tables,
        (table) => sql<{ session_number: Integer | null }>`${lowest(table)}`
      )
      const found = numbers.flatMap(([row]) => (row!.session_number === null ? [] : [Number(row!.session_number)]))
      if (found.length === 0) return undefined
      const number = Math.min(...found)
      const [session] = yield* sql<{ session_id: SessionId }>`SELECT session_id FROM sessions
        WHERE ${Bucket.isOfSession(sql, project_id, number)}`
      return { number, id: session?.session_id }
    }
    const [row] = yield* Effect.catchIf(lowestOf(tables), isCorruption, () => lowestOf(["sessions"]))
    return row && { number: Number(row.session_number), id: row.session_id ?? undefined }
  })
