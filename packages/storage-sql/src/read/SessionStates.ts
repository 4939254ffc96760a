/** Reads what the rows of sessions say of their packs. */
import type { ProjectId, SessionId, SessionState } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"
import type * as Projects from "../names/Projects.ts"
import { type SessionRow, toSessionState } from "../sql/RowDecoding.ts"
import { isCorruption } from "../sql/SqlErrors.ts"

const stateColumns = "session_number, generation, packs, history, parts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const getSession = Effect.fn("SqlStorage.getSession")(function* (project: ProjectId, session: SessionId) {
    const number = yield* projects.find(project)
    const find = (name: Statement.Fragment) =>
      sql<SessionRow>`SELECT ${sql.literal(stateColumns)} FROM sessions
        WHERE project_id = ${number} AND ${name} = ${session}${Bucket.and(sql, Bucket.ofSession(session))}`
    // Reads all sessions of the project where the index of their names is corrupt.
    const [row] = yield* Effect.catchIf(find(sql.literal("session_id")), isCorruption, () =>
      find(sql.literal(Dialects.of(sql).unindexed("session_id")))
    )
    return row && toSessionState(row)
  })

  const getSessions = Effect.fn("SqlStorage.getSessions")(function* (
    project: ProjectId,
    sessions: ReadonlyArray<SessionId>
  ) {
    const project_id = yield* projects.find(project)
    const states = new Map<SessionId, SessionState>()
    for (const names of BulkValues.chunks(sessions)) {
      const found = Dialects.of(sql).rowsByName<SessionRow & { readonly session_id: SessionId }>(
        {
          table: "sessions",
          columns: sql.literal(`session_id, ${stateColumns}`),
          isOfParent: sql`project_id = ${project_id}${Bucket.and(sql, names.map(Bucket.ofSession))}`,
          name: "session_id",
          type: "varchar",
          lock: sql.literal("")
        },
        names
      )
      const rows = yield* Effect.catchIf(found, isCorruption, () => Effect.undefined)
      for (const row of rows ?? []) states.set(row.session_id, toSessionState(row))
      if (rows !== undefined) continue
      for (const name of names) {
        const state = yield* getSession(project, name)
        if (state !== undefined) states.set(name, state)
      }
    }
    return states
  })

  return { getSession, getSessions }
}
