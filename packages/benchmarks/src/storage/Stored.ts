/** What is in a database, and what it takes. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Databases from "../harness/Databases.ts"

export interface Part {
  readonly name: string
  readonly bytes: number
  /** SQLite: what of it is in no row and no entry. Postgres: its maps of free space and of what is visible. */
  readonly overhead: number
}

export interface Stored {
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
  const of = (name: string) => Number(row![name])
  return {
    packs: of("packs"),
    packBytes: of("pack_bytes"),
    pieces: of("pieces"),
    pieceBytes: of("piece_bytes"),
    owners: of("owners"),
    sessions: of("sessions"),
    newBytes: of("new_bytes")
  }
})

const measureSqlite = async (database: Databases.Database): Promise<Stored> => {
  const file = Databases.fileOf(database)
  const found = await database.query((sql) =>
    Effect.gen(function* () {
      yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
      const parts = yield* sql<{ name: string; bytes: number; overhead: number }>`
        SELECT name, sum(pgsize) AS bytes, sum(unused) AS overhead FROM dbstat GROUP BY name`
      return { parts, contents: yield* contents(sql) }
    })
  )
  const total = Databases.sizeOf(file)
  const free = total - found.parts.reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    database: "SQLite",
    total,
    parts: [...found.parts, { name: "free pages", bytes: free, overhead: free }],
    contents: found.contents
  }
}

const measurePostgres = async (database: Databases.Database): Promise<Stored> => {
  const found = await database.query((sql) =>
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
  const parts = found.parts.map(({ bytes, name, overhead }) => ({
    name,
    bytes: Number(bytes),
    overhead: Number(overhead)
  }))
  return { database: "Postgres", total: found.total, parts, contents: found.contents }
}

export const measure = (database: Databases.Database): Promise<Stored> =>
  database.kind === "SQLite" ? measureSqlite(database) : measurePostgres(database)
