/** Shared pieces that a session does not own any more. */
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Locks from "../dialect/Locks.ts"
import * as BytesRepair from "../sql/BytesRepair.ts"
import type { Integer } from "../sql/RowDecoding.ts"

/** A piece that was deleted. */
interface Deleted {
  readonly bucket: number
  /** Bytes of its text. */
  readonly size: number
  /** Bytes as stored. */
  readonly bytes: number
}

/** Reduces what a session owns to the pieces of these names, in a transaction. Deletes pieces that have no owner left. */
export const disown = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  project_id: number,
  session_number: number,
  owned: ReadonlyArray<Uint8Array>
) {
  const isOfSession = sql`project_id = ${project_id} AND session_number = ${session_number}`
  yield* BytesRepair.repair(sql, { table: "shared_piece_owners", column: "sha256", isOfParent: isOfSession })
  const kept = new Set(owned.map(Hex.encode))
  const rows = yield* sql<{ sha256: Uint8Array }>`SELECT sha256 FROM shared_piece_owners
    WHERE ${isOfSession} ORDER BY sha256`
  const names = rows.map(({ sha256 }) => sha256).filter((name) => !kept.has(Hex.encode(name)))
  const total: Array<Deleted> = []
  const chunks = Bucket.split(sql, names, Bucket.ofPiece).flatMap(({ buckets, rows }) =>
    BulkValues.chunks(rows).map((chunk) => [buckets, chunk] as const)
  )
  for (const [buckets, chunk] of chunks) {
    const isInChunk = sql`project_id = ${project_id} AND ${BulkValues.isAmong(sql, "sha256", "bytea", chunk)}${Bucket.and(sql, buckets)}`
    yield* sql`DELETE FROM shared_piece_owners WHERE ${isInChunk} AND session_number = ${session_number}`
    // Waits for transactions that are adding owners. The next statement sees the owners that they committed.
    yield* sql`SELECT sha256 FROM shared_pieces WHERE ${isInChunk} ORDER BY sha256 ${Locks.update(sql)}`
    const deleted = yield* sql<{ sha256: Uint8Array; size: Integer; bytes: Integer }>`DELETE FROM shared_pieces
      WHERE ${isInChunk} AND NOT EXISTS (
        SELECT 1 FROM shared_piece_owners o
        WHERE o.project_id = shared_pieces.project_id AND o.sha256 = shared_pieces.sha256${Bucket.and(sql, buckets, "o.")})
      RETURNING sha256, size, octet_length(piece) AS bytes`
    for (const { bytes, sha256, size } of deleted) {
      total.push({ bucket: Bucket.ofPiece(sha256), size: Number(size), bytes: Number(bytes) })
    }
  }
  return total
})
