/** Reads packs of sessions. */
import type { PackRanges, ProjectId, RangedPack, SessionRange, StoredPack } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as StoredBytes from "../dialect/StoredBytes.ts"
import * as LongBytes from "./LongBytes.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"

interface PackRow {
  readonly pack_number: Integer
  readonly pack: Uint8Array | null
}

interface RangedPackRow {
  readonly session_number: Integer
  readonly pack_number: Integer
  readonly kept: Integer
  readonly pending_sweep: Integer | null
  readonly pack: Uint8Array | null
}

/** The highest number of a pack that the column can hold. */
const maxPack = 2 ** 31 - 1

/** Ranges in one chain of `OR`. SQLite limits the depth of an expression to 1,000: https://sqlite.org/limits.html#max_expr_depth */
const maxRangesInRow = 500

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  /** The lowest number of the newest packs that fit into `bytes` together; `maxPack` if none fits. */
  const lowestOfNewest = Effect.fnUntraced(function* (
    isOfSession: Statement.Fragment,
    inRanges: Statement.Fragment,
    bytes: number
  ) {
    const sizes = yield* sql<{ pack_number: Integer; size: Integer }>`
      SELECT pack_number, octet_length(pack) AS size FROM packs WHERE ${isOfSession} AND ${inRanges}
      ORDER BY pack_number DESC`
    let lowest = maxPack
    let left = bytes
    for (const { pack_number, size } of sizes) {
      left -= Number(size)
      if (left < 0) break
      lowest = Number(pack_number)
    }
    return lowest
  })

  /** Packs of one session. */
  const longPacks = Effect.fnUntraced(function* (where: Statement.Fragment) {
    const columns = { key: "pack_number", bytes: "pack" }
    const rows = yield* LongBytes.read<Integer>(sql, "packs", columns, where, String)
    const packs = rows.map(({ bytes, key }): StoredPack => ({ number: Number(key), bytes }))
    return packs.sort((a, b) => a.number - b.number)
  })

  const readPacks = Effect.fn("SqlStorage.readPacks")(function* (
    project: ProjectId,
    session: number,
    ranges: PackRanges.PackRanges,
    newestBytes?: number
  ) {
    const number = yield* projects.find(project)
    if (ranges.length === 0) return []
    const isOfSession = Bucket.isOfSession(sql, number, session)
    const conditions = ranges.map(({ from, to }) =>
      from === to ? sql`pack_number = ${from}` : sql`pack_number BETWEEN ${from} AND ${to}`
    )
    const chains = Array.from({ length: Math.ceil(conditions.length / maxRangesInRow) }, (_, n) =>
      sql.or(conditions.slice(n * maxRangesInRow, (n + 1) * maxRangesInRow))
    )
    const inRanges = sql.or(chains)
    const lowest = newestBytes === undefined ? 0 : yield* lowestOfNewest(isOfSession, inRanges, newestBytes)
    const isRead = sql`${isOfSession} AND ${inRanges} AND pack_number >= ${lowest}`
    const rows = yield* sql<PackRow>`SELECT pack_number, ${LongBytes.selectShort(sql, "pack")} FROM packs
      WHERE ${isRead} ORDER BY pack_number`
    const packs: Array<StoredPack> = []
    for (const { pack, pack_number } of rows) {
      // All of them again: what was read before is of another snapshot.
      if (pack === null) return yield* longPacks(isRead)
      packs.push({ number: Number(pack_number), bytes: pack })
    }
    return packs
  })

  const rangeValues = BulkValues.make(
    sql,
    BulkValues.named({ session_number: "integer", from_pack: "integer", to_pack: "integer", ...Bucket.types(sql) })
  )

  const readPackRanges = Effect.fn("SqlStorage.readPackRanges")(function* (
    project: ProjectId,
    ranges: ReadonlyArray<SessionRange>,
    maxPackBytes: number
  ) {
    const number = yield* projects.find(project)
    if (ranges.length === 0) return []
    const values = ranges.map(({ from, session, to }) => ({
      session_number: session,
      from_pack: from,
      to_pack: to,
      bucket: Bucket.ofNumber(session)
    }))
    const buckets = values.map(({ bucket }) => bucket)
    const wanted = sql`WITH ranges ${rangeValues.names} AS (${rangeValues.of(values)}) SELECT * FROM ranges`
    const rows = yield* sql<RangedPackRow>`SELECT k.session_number, k.pack_number, k.kept, s.pending_sweep,
        CASE WHEN octet_length(k.pack) <= ${maxPackBytes} THEN ${StoredBytes.value(sql, "k.pack")} END AS pack
      FROM (${wanted}) AS ranges
      JOIN packs k ON k.project_id = ${number} AND k.session_number = ranges.session_number
        AND k.pack_number BETWEEN ranges.from_pack AND ranges.to_pack${Bucket.andSame(sql, "k", "ranges")}
        ${Bucket.and(sql, buckets, "k.")}
      LEFT JOIN sessions s ON s.project_id = ${number} AND s.session_number = ranges.session_number${Bucket.andSame(sql, "s", "k")}
      ORDER BY k.session_number, k.pack_number`
    return rows.map((row): RangedPack => ({
      session: Number(row.session_number),
      number: Number(row.pack_number),
      bytes: row.pack ?? undefined,
      isKept: Number(row.kept) > 0,
      isOfSteps: Number(row.kept) === 2,
      isOfErased: Number(row.pending_sweep ?? 0) !== 0
    }))
  })

  return { readPacks, readPackRanges }
}
