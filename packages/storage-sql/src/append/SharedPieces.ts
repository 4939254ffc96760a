/** Pieces that are stored once per project, and the sessions that own them. */
import type { SharedPiece } from "@tachograph/core"
import { Effect } from "effect"
import { Hex } from "effect/encoding"
import type { SqlClient } from "effect/sql"
import * as Locks from "../dialect/Locks.ts"
import type { Integer } from "../sql/RowDecoding.ts"

/** Rows or names in one statement. */
const chunkSize = 200

interface Deleted {
  readonly pieces: number
  /** Bytes of their text. */
  readonly size: number
  /** Bytes as stored. */
  readonly bytes: number
}

export const make = (sql: SqlClient.SqlClient) => {
  /**
   * Stores pieces and their owners, in a transaction. Locks the pieces that exist, so that none of them is deleted for want
   * of owners before the transaction ends. Returns the pieces that are new.
   */
  const own = Effect.fnUntraced(function* (
    project_id: number,
    owners: ReadonlyArray<{ readonly session_number: number; readonly shared: ReadonlyArray<SharedPiece> }>
  ) {
    const pieces = new Map(
      owners.flatMap(({ shared }) => shared.map((each) => [Hex.encode(each.sha256), each] as const))
    )
    // All transactions lock them in this order.
    const names = Array.from(pieces.keys()).sort()
    const added: Array<SharedPiece> = []
    for (let at = 0; at < names.length; at += chunkSize) {
      const missing = new Set(names.slice(at, at + chunkSize))
      while (missing.size > 0) {
        const locked = yield* sql<{ sha256: Uint8Array }>`SELECT sha256 FROM shared_pieces
          WHERE project_id = ${project_id} AND ${sql.in(
            "sha256",
            Array.from(missing, (name) => pieces.get(name)!.sha256)
          )}
          ORDER BY sha256 ${Locks.keyShare(sql)}`
        for (const { sha256 } of locked) missing.delete(Hex.encode(sha256))
        for (const name of missing) {
          const piece = pieces.get(name)!
          const row = { project_id, sha256: piece.sha256, size: piece.size, piece: piece.bytes() }
          const inserted = yield* sql`INSERT INTO shared_pieces ${sql.insert(row)}
            ON CONFLICT (project_id, sha256) DO NOTHING RETURNING size`
          // Another transaction has inserted it: the next round locks that row.
          if (inserted.length === 0) continue
          added.push(piece)
          missing.delete(name)
        }
      }
    }
    const rows = owners.flatMap(({ session_number, shared }) =>
      shared.map(({ sha256 }) => ({ project_id, session_number, sha256 }))
    )
    for (let at = 0; at < rows.length; at += chunkSize) {
      yield* sql`INSERT INTO shared_piece_owners ${sql.insert(rows.slice(at, at + chunkSize) as [(typeof rows)[number]])}
        ON CONFLICT (project_id, session_number, sha256) DO NOTHING`
    }
    return added
  })

  /** Reduces what a session owns to the pieces of these names, in a transaction. Deletes pieces that have no owner left. */
  const disown = Effect.fnUntraced(function* (
    project_id: number,
    session_number: number,
    owned: ReadonlyArray<Uint8Array>
  ) {
    const kept = new Set(owned.map(Hex.encode))
    const rows = yield* sql<{ sha256: Uint8Array }>`SELECT sha256 FROM shared_piece_owners
      WHERE project_id = ${project_id} AND session_number = ${session_number} ORDER BY sha256`
    const names = rows.map(({ sha256 }) => sha256).filter((name) => !kept.has(Hex.encode(name)))
    let total: Deleted = { pieces: 0, size: 0, bytes: 0 }
    for (let at = 0; at < names.length; at += chunkSize) {
      const isNamed = sql.and([sql`project_id = ${project_id}`, sql.in("sha256", names.slice(at, at + chunkSize))])
      yield* sql`DELETE FROM shared_piece_owners WHERE ${isNamed} AND session_number = ${session_number}`
      // Waits for transactions that are adding owners. The next statement sees the owners that they committed.
      yield* sql`SELECT sha256 FROM shared_pieces WHERE ${isNamed} ORDER BY sha256 ${Locks.update(sql)}`
      const deleted = yield* sql<{ size: Integer; bytes: Integer }>`DELETE FROM shared_pieces
        WHERE ${isNamed} AND NOT EXISTS (
          SELECT 1 FROM shared_piece_owners o
          WHERE o.project_id = shared_pieces.project_id AND o.sha256 = shared_pieces.sha256)
        RETURNING size, length(piece) AS bytes`
      for (const { bytes, size } of deleted) {
        total = { pieces: total.pieces + 1, size: total.size + Number(size), bytes: total.bytes + Number(bytes) }
      }
    }
    return total
  })

  return { own, disown }
}
