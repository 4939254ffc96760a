/** Keeps parts that wait. */
import { mergeWaiting, type ProjectId, type WaitingPart } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import type * as Projects from "../names/Projects.ts"
import { fittingRows } from "../sql/FittingRows.ts"
import type * as PartRows from "./PartRows.ts"

/** Stored bytes in one statement, and at least one part: events are committed between two statements. */
const maxStatementBytes = 4 * 1024 * 1024

const types = {
  held_at: "bigint",
  due_at: "bigint",
  project_id: "integer",
  size: "integer",
  group_id: "varchar",
  part_id: "varchar",
  content: "bytea"
} as const satisfies BulkValues.Types

/** In the order of their keys, each once: Postgres changes no row twice in a statement. */
const distinct = (parts: ReadonlyArray<WaitingPart>): ReadonlyArray<WaitingPart> => {
  const byName = new Map<string, WaitingPart>()
  for (const part of parts) {
    const name = `${part.group}\0${part.part}`
    const known = byName.get(name)
    byName.set(name, known === undefined ? part : mergeWaiting(known, part))
  }
  return Array.from(byName)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, part]) => part)
}

const chunksOf = (parts: ReadonlyArray<WaitingPart>): ReadonlyArray<ReadonlyArray<WaitingPart>> => {
  const chunks: Array<ReadonlyArray<WaitingPart>> = []
  for (let at = 0; at < parts.length;) {
    const sizes = parts.slice(at, at + BulkValues.maxRows).map(({ content }) => ({ size: content.length }))
    const count = fittingRows(sizes, BulkValues.maxRows, maxStatementBytes)
    chunks.push(parts.slice(at, at + count))
    at += count
  }
  return chunks
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects, { change }: PartRows.PartRows) => {
  const columns = BulkValues.make(sql, BulkValues.named({ ...types, ...Bucket.types(sql) }))

  const insert = (project_id: number, parts: ReadonlyArray<WaitingPart>) => {
    const rows = parts.map(({ content, due, group, part, since, size }) => ({
      ...{ held_at: since, due_at: due ?? null, project_id, size, group_id: group, part_id: part, content },
      bucket: Bucket.ofGroup(group)
    }))
    const isLarger = sql`excluded.size > waiting_parts.size`
    const isOlder = sql`excluded.held_at < waiting_parts.held_at`
    const isSooner = sql`excluded.due_at IS NOT NULL AND (waiting_parts.due_at IS NULL OR excluded.due_at < waiting_parts.due_at)`
    const taken = (column: string, isTaken: Statement.Fragment) => {
      const name = sql.literal(column)
      return sql`${name} = CASE WHEN ${isTaken} THEN excluded.${name} ELSE waiting_parts.${name} END`
    }
    return sql`INSERT INTO waiting_parts ${columns.names} ${columns.toInsert(rows)}
      ON CONFLICT (project_id, group_id, part_id${Bucket.andColumn(sql)}) DO UPDATE SET
        ${taken("held_at", isOlder)}, ${taken("due_at", isSooner)}, ${taken("size", isLarger)}, ${taken("content", isLarger)}
      WHERE ${isLarger} OR ${isOlder} OR ${isSooner}`
  }

  const hold = Effect.fn("SqlStorage.hold")(function* (project: ProjectId, parts: ReadonlyArray<WaitingPart>) {
    const project_id = yield* projects.findOrCreate(project)
    const shards = Bucket.split(sql, distinct(parts), ({ group }) => Bucket.ofGroup(group))
    const chunks = shards.flatMap(({ rows }) => chunksOf(rows))
    for (const chunk of chunks) yield* change(insert(project_id, chunk))
  })

  return { hold }
}
