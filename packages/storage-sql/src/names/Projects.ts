/** The numbers that stand for projects' names in every row. A project's number never changes, so it is cached. */
import type { ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as NextNumber from "./NextNumber.ts"

/** The number that no row has, so that what reads finds nothing. What writes must not be given it. */
export const none = -1

export interface Projects {
  /** Undefined if it is not known to the process. */
  readonly cached: (project: ProjectId) => number | undefined
  /** `none` if the project does not exist. */
  readonly find: (project: ProjectId) => Effect.Effect<number, SqlError.SqlError>
  /** Creates the project if needed. Do not call it in a transaction: a rollback would leave a wrong number in the cache. */
  readonly findOrCreate: (project: ProjectId) => Effect.Effect<number, SqlError.SqlError>
  readonly list: Effect.Effect<ReadonlyArray<ProjectId>, SqlError.SqlError>
}

export const make = (sql: SqlClient.SqlClient): Projects => {
  const cache = new Map<ProjectId, number>()

  const find = Effect.fnUntraced(function* (project: ProjectId) {
    const number = cache.get(project)
    if (number !== undefined) return number
    const [row] = yield* sql<{ project_id: number }>`SELECT project_id FROM projects WHERE project_name = ${project}`
    if (row === undefined) return none
    cache.set(project, row.project_id)
    return row.project_id
  })

  // Projects are few and created by hand.
  const create = (project: ProjectId) =>
    NextNumber.insert(sql, { table: "projects", number: "project_id", name: "project_name" }, project)

  const findOrCreate = Effect.fnUntraced(function* (project: ProjectId): Effect.fn.Return<number, SqlError.SqlError> {
    const number = yield* find(project)
    if (number !== none) return number
    yield* create(project)
    return yield* findOrCreate(project)
  })

  const list = Effect.map(
    sql<{ project_name: ProjectId }>`SELECT project_name FROM projects ORDER BY project_id`,
    (rows) => rows.map(({ project_name }) => project_name)
  )

  return { cached: (project) => cache.get(project), find, findOrCreate, list }
}
