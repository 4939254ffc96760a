/** Reads what a sweep looks at: the packs of a session, step by step, and which of them its events name. */
import type { SweepRequest } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as StoredBytes from "../dialect/StoredBytes.ts"
import { fittingRows, type Size } from "../sql/FittingRows.ts"
import type { Integer } from "../sql/RowDecoding.ts"

interface PackRow {
  readonly pack_number: Integer
  readonly agent_number: Integer
  readonly kept: Integer
  readonly pack: Uint8Array
}

/** Bytes of packs that one step reads; at least one pack. */
const maxStepBytes = 8 * 1024 * 1024

/** `named` are the packs that events and steps name: what damage marks as erased is kept all the same. */
export const toSweepPack =
  (named: ReadonlySet<number>) =>
  ({ kept, pack, pack_number }: PackRow) => ({
    number: Number(pack_number),
    bytes: pack,
    isKept: Number(kept) > 0 || named.has(Number(pack_number))
  })

export const make = (sql: SqlClient.SqlClient) => {
  /** The lowest pack of the step, and whether it is the session's lowest. */
  const stepDown = Effect.fnUntraced(function* (project_id: number, session: number, { limit, to }: SweepRequest) {
    const sizes = yield* sql<Size & { pack_number: Integer }>`SELECT pack_number, octet_length(pack) AS size FROM packs
      WHERE ${Bucket.isOfSession(sql, project_id, session)} AND pack_number <= ${to}
      ORDER BY pack_number DESC LIMIT ${limit + 1}`
    const count = fittingRows(sizes, limit, maxStepBytes)
    return { from: Number(sizes[count - 1]?.pack_number ?? 0), isLast: count === sizes.length }
  })

  /** Packs from one number to another, both included; to the last one without `to`. */
  const readPacks = (project_id: number, session: number, from: number, to?: number) =>
    sql<PackRow>`SELECT pack_number, agent_number, kept, ${StoredBytes.select(sql, "pack")} FROM packs
      WHERE ${Bucket.isOfSession(sql, project_id, session)} AND pack_number >= ${from}
        ${to === undefined ? sql.literal("") : sql`AND pack_number <= ${to}`}
      ORDER BY pack_number`

  /** The packs that the session's events and steps name. Reads all of them: once in a sweep. */
  const namedPacks = Effect.fnUntraced(function* (project_id: number, session: number) {
    const isOfSession = Bucket.isOfSession(sql, project_id, session)
    const rows = yield* sql<{ pack_number: Integer }>`SELECT pack_number FROM events e
      ${EventIndex.hint(sql, "events_by_session")} WHERE ${isOfSession}
      UNION ALL SELECT pack_number FROM steps WHERE ${isOfSession}`
    return new Set(rows.map((row) => Number(row.pack_number)))
  })

  return { stepDown, readPacks, namedPacks }
}
