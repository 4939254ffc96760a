/** Measures the contents and the size of a database. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Databases from "../harness/Databases.ts"

interface Part {
  readonly name: string
  readonly bytes: number
  /** SQLite: unused bytes in pages. Postgres: free space and visibility maps. */
  readonly overhead: number
}

export interface StoredBytes {
  readonly database: string
  readonly total: number
  readonly parts: ReadonlyArray<Part>
  readonly contents: Contents
}

interface Contents {
  readonly packs: number
  readonly packBytes: number
  readonly pieces: number
  readonly pieceBytes: number
  readonly owners: number
  readonly sessions: number
  readonly newBytes: number
}

const contents = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [row] = yield* sql<Record<string, number | string>>`SELECT
    (SELECT count(*) FROM packs) AS packs, (SELECT coalesce(sum(length(pack)), 0) FROM packs) AS pack_bytes,
    (SELECT count(*) FROM shared_pieces) AS pieces, (SELECT coalesce(sum(length(piece)), 0) FROM shared_pieces) AS piece_bytes,
    (SELECT count(*) FROM shared_piece_owners) AS owners, (SELECT count(*) FROM sessions) AS sessions,
    (SELECT coalesce(sum(new_bytes), 0) FROM storage_usage) AS new_bytes`
  const field = (name: string) => Number(row![name])
  return {
    packs: field("packs"),
    packBytes: field("pack_bytes"),
    pieces: field("pieces"),
    pieceBytes: field("piece_bytes"),
    owners: field("owners"),
    sessions: field("sessions"),
    newBytes: field("new_bytes")
  }
})

const measureSqlite = async (database: Databases.Database): Promise<StoredBytes> => {
  const file = Databases.fileOf(database)
  const measured = await database.query((sql) =>
    Effect.gen(function* () {
      yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
      const parts = yield* sql<{ name: string; bytes: number; overhead: number }>`
        SELECT name, sum(pgsize) AS bytes, sum(unused) AS overhead FROM dbstat GROUP BY name`
      return { parts, contents: yield* contents(sql) }
    })
  )
  const total = Databases.sizeOf(file)
  const free = total - measured.parts.reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    database: "SQLite",
    total,
    parts: [...measured.parts, { name: "free pages", bytes: free, overhead: free }],
    contents: measured.contents
  }
}

const measurePostgres = async (database: Databases.Database): Promise<StoredBytes> => {
  const measured = await database.query((sql) =>
    Effect.gen(function* () {
      yield* sql`CHECKPOINT`
      const parts = yield* sql<{ name: string; bytes: string; overhead: string }>`
        WITH relations AS (
          SELECT oid, relname AS name FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'i')
          UNION ALL SELECT t.oid, c.relname || ' (toast)' FROM pg_class c
            JOIN pg_class t ON t.oid = c.reltoastrelid OR t.oid = (
              SELECT indexrelid FROM pg_index WHERE indrelid = c.reltoastrelid)
            WHERE c.relnamespace = current_schema()::regnamespace)
        SELECT name, sum(pg_relation_size(oid) + maps) AS bytes, sum(maps) AS overhead FROM relations
        CROSS JOIN LATERAL (SELECT pg_relation_size(oid, 'fsm') + pg_relation_size(oid, 'vm') AS maps) AS sizes
        GROUP BY name`
      const [row] = yield* sql<{ total: string }>`SELECT sum(pg_total_relation_size(oid)) AS total FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`
      return { total: Number(row!.total), parts, contents: yield* contents(sql) }
    })
  )
  const parts = measured.parts.map(({ bytes, name, overhead }) => ({
    name,
    bytes: Number(bytes),
    overhead: Number(overhead)
  }))
  return { database: "Postgres", total: measured.total, parts, contents: measured.contents }
}

export const measure = (database: Databases.Database): Promise<StoredBytes> =>
  database.kind === "SQLite" ? measureSqlite(database) : measurePostgres(database)
