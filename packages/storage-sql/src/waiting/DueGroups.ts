/** Which groups of parts wait, and when they are due. */
import type { ProjectId, WaitingGroup } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import type * as PartRows from "./PartRows.ts"

/** Due parts that are looked at for their groups. */
const maxDueParts = 1_000

export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  { change, isOfGroup }: PartRows.PartRows
) => {
  const { useIndex } = Dialects.of(sql)

  /** Those of the groups that wait, and of which no part is due by then. */
  const undue = (project_id: number, groups: ReadonlyArray<string>, at: number) => {
    const isAmong = BulkValues.isAmong(sql, "group_id", "varchar", groups)
    return sql<{ group_id: string; parts: Integer }>`SELECT group_id, count(*) AS parts FROM waiting_parts
      WHERE project_id = ${project_id} AND ${isAmong}${Bucket.and(sql, groups.map(Bucket.ofGroup))}
      GROUP BY group_id HAVING min(due_at) > ${at} ORDER BY group_id`
  }

  /** One part makes the group due: a row is written with its content. */
  const makeOneDue = (project_id: number, group: string, at: number) =>
    sql`UPDATE waiting_parts SET due_at = ${at} WHERE ${isOfGroup(project_id, group)} AND due_at > ${at}
      AND part_id = (SELECT min(part_id) FROM waiting_parts WHERE ${isOfGroup(project_id, group)} AND due_at IS NOT NULL)`

  const makeDue = Effect.fn("SqlStorage.makeDue")(function* (
    project: ProjectId,
    groups: ReadonlyMap<string, number>,
    at: number
  ) {
    const project_id = yield* projects.find(project)
    for (const chunk of BulkValues.chunks(Array.from(groups.keys()))) {
      const found = yield* undue(project_id, chunk, at)
      const grown = found.filter(({ group_id, parts }) => Number(parts) > groups.get(group_id)!)
      // Each by itself: a transaction would have to wait for all nodes of a distributed database.
      for (const { group_id } of grown) yield* change(makeOneDue(project_id, group_id, at))
    }
  })

  const waitingAmong = Effect.fn("SqlStorage.waitingAmong")(function* (
    project: ProjectId,
    groups: ReadonlyArray<string>
  ) {
    const project_id = yield* projects.find(project)
    const found: Array<string> = []
    for (const chunk of BulkValues.chunks(groups)) {
      const isAmong = BulkValues.isAmong(sql, "group_id", "varchar", chunk)
      const rows = yield* sql<{ group_id: string }>`SELECT DISTINCT group_id FROM waiting_parts
        WHERE project_id = ${project_id} AND ${isAmong}${Bucket.and(sql, chunk.map(Bucket.ofGroup))} AND due_at IS NOT NULL`
      found.push(...rows.map(({ group_id }) => group_id))
    }
    return found
  })

  const postpone = Effect.fn("SqlStorage.postpone")(function* (project: ProjectId, group: string, to: number) {
    const project_id = yield* projects.find(project)
    const isSooner = sql`${isOfGroup(project_id, group)} AND due_at < ${to}`
    yield* change(sql`UPDATE waiting_parts SET due_at = ${to} WHERE ${isSooner}`, isSooner)
  })

  const dueGroups = Effect.fn("SqlStorage.dueGroups")(function* (now: number, limit: number) {
    const rows = yield* sql<{ project_name: ProjectId; group_id: string }>`SELECT p.project_name, w.group_id
      FROM waiting_parts w ${sql.literal(useIndex("waiting_parts_by_due"))}
      JOIN projects p ON p.project_id = w.project_id WHERE w.due_at IS NOT NULL AND w.due_at <= ${now}
      ORDER BY w.due_at, w.project_id, w.group_id LIMIT ${maxDueParts}`
    const groups = new Map<string, WaitingGroup>()
    for (const { group_id: group, project_name: project } of rows)
      groups.set(`${group}\0${project}`, { project, group })
    return Array.from(groups.values()).slice(0, limit)
  })

  const listWaitingGroups = Effect.fn("SqlStorage.listWaitingGroups")(function* (
    project: ProjectId,
    after = "",
    limit: number
  ) {
    const project_id = yield* projects.find(project)
    const rows = yield* sql<{ group_id: string }>`SELECT DISTINCT group_id FROM waiting_parts
      WHERE project_id = ${project_id} AND group_id > ${after} ORDER BY group_id LIMIT ${limit}`
    return rows.map(({ group_id }) => group_id)
  })

  return { makeDue, waitingAmong, postpone, dueGroups, listWaitingGroups }
}
