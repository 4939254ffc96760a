/** Parts of events that are not complete yet. */
import {
  type ListPage,
  maxWaitingPageParts,
  type ProjectId,
  type ReadPart,
  type WaitingPart,
  type WaitingPlace
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import type * as Projects from "../names/Projects.ts"
import * as LongBytes from "../read/LongBytes.ts"
import { fittingRows, type Size } from "../sql/FittingRows.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as DueGroups from "./DueGroups.ts"
import * as HoldParts from "./HoldParts.ts"
import * as PartRows from "./PartRows.ts"

interface Row extends Size {
  readonly part_id: string
  readonly held_at: Integer
  readonly due_at: Integer | null
  readonly content: Uint8Array | null
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const rows = PartRows.make(sql)
  const { areUnchanged, change, isOfGroup } = rows

  const readPart = (group: string, row: Row, content: Uint8Array): WaitingPart => ({
    ...{
      group,
      part: row.part_id,
      since: Number(row.held_at),
      due: row.due_at === null ? undefined : Number(row.due_at)
    },
    ...{ size: Number(row.size), content }
  })

  const readParts = Effect.fnUntraced(function* (project_id: number, group: string, parts: ReadonlyArray<ReadPart>) {
    const where = areUnchanged(project_id, group, parts)
    const rows = yield* sql<Row>`SELECT part_id, held_at, due_at, size, ${LongBytes.selectShort(sql, "content")}
      FROM waiting_parts WHERE ${where} ORDER BY held_at, part_id`
    const long = rows.filter(({ content }) => content === null)
    const contents = new Map<string, Uint8Array>()
    if (long.length > 0) {
      const names = { key: "part_id", bytes: "content" }
      const named = long.map(({ part_id, size }) => ({ part: part_id, size: Number(size) }))
      const areLong = areUnchanged(project_id, group, named)
      const read = yield* LongBytes.read<string>(sql, "waiting_parts", names, areLong, (part) => part)
      for (const { bytes, key } of read) contents.set(key, bytes)
    }
    return rows.flatMap((row) => {
      const content = row.content ?? contents.get(row.part_id)
      return content === undefined ? [] : [readPart(group, row, content)]
    })
  })

  const readWaiting = Effect.fn("SqlStorage.readWaiting")(function* (
    project: ProjectId,
    group: string,
    after: WaitingPlace | undefined,
    maxBytes: number
  ): Effect.fn.Return<ListPage<WaitingPart, WaitingPlace>, SqlError.SqlError> {
    const project_id = yield* projects.find(project)
    const isAfter =
      after === undefined ? sql.literal("") : sql`AND (held_at, part_id) > (${after.since}, ${after.part})`
    const found = yield* sql<Pick<Row, "held_at" | "part_id" | "size">>`SELECT part_id, held_at, size FROM waiting_parts
      WHERE ${isOfGroup(project_id, group)} ${isAfter} ORDER BY held_at, part_id LIMIT ${maxWaitingPageParts + 1}`
    const count = fittingRows(found, maxWaitingPageParts, maxBytes)
    const last = found[count - 1]
    if (last === undefined) return { rows: [], next: undefined }
    const parts = found.slice(0, count).map(({ part_id, size }) => ({ part: part_id, size: Number(size) }))
    return {
      rows: yield* readParts(project_id, group, parts),
      next: count < found.length ? { part: last.part_id, since: Number(last.held_at) } : undefined
    }
  })

  const endWaiting = Effect.fn("SqlStorage.endWaiting")(function* (
    project: ProjectId,
    group: string,
    parts: ReadonlyArray<ReadPart>
  ) {
    const project_id = yield* projects.find(project)
    const sorted = parts.toSorted((a, b) => (a.part < b.part ? -1 : 1))
    for (const chunk of BulkValues.chunks(sorted)) {
      const where = areUnchanged(project_id, group, chunk)
      yield* change(sql`DELETE FROM waiting_parts WHERE ${where}`, where)
    }
  })

  /** Groups of which nothing will be due. */
  const loose = (before: number) => sql<{ project_id: number; group_id: string }>`SELECT DISTINCT project_id, group_id
    FROM waiting_parts c WHERE due_at IS NULL AND held_at < ${before} AND NOT EXISTS (SELECT 1 FROM waiting_parts w
      WHERE w.project_id = c.project_id AND w.group_id = c.group_id${Bucket.andSame(sql, "w", "c")} AND w.due_at IS NOT NULL)
    LIMIT ${BulkValues.maxRows}`

  const endLoose = (project_id: number, groups: ReadonlyArray<string>, before: number) => {
    const isAmong = BulkValues.isAmong(sql, "group_id", "varchar", groups)
    return sql`DELETE FROM waiting_parts WHERE project_id = ${project_id}
      AND ${isAmong}${Bucket.and(sql, groups.map(Bucket.ofGroup))} AND due_at IS NULL AND held_at < ${before}`
  }

  const endContexts = Effect.fn("SqlStorage.endContexts")(function* (before: number) {
    for (;;) {
      const groups = yield* loose(before)
      for (const [project_id, ofProject] of Map.groupBy(groups, (row) => row.project_id)) {
        const names = ofProject.map(({ group_id }) => group_id)
        for (const { rows } of Bucket.split(sql, names, Bucket.ofGroup))
          yield* change(endLoose(project_id, rows, before))
      }
      if (groups.length < BulkValues.maxRows) return
    }
  })

  const countWaiting = Effect.map(
    sql<{ parts: Integer }>`SELECT count(*) AS parts FROM waiting_parts WHERE due_at IS NOT NULL`,
    ([row]) => Number(row!.parts)
  )

  return {
    ...HoldParts.make(sql, projects, rows),
    ...DueGroups.make(sql, projects, rows),
    ...{ readWaiting, endWaiting, endContexts, countWaiting }
  }
}
