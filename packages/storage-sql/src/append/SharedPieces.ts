/** Pieces that a project keeps once, and the sessions that own them. */
import type { SharedPiece } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { hexOf } from "../sql/Hex.ts"
import * as Locks from "../sql/Locks.ts"

/** Names in one statement. */
const atOnce = 200

interface Gone {
  readonly pieces: number
  readonly size: number
  readonly bytes: number
}

export const make = (sql: SqlClient.SqlClient) => {
  /**
   * Keeps pieces and their owners, in a transaction. Whatever is there is held until its end, so that nobody finds it
   * without owners meanwhile. Answers those that were not there.
   */
  const own = Effect.fnUntraced(function* (
    project_id: number,
    owners: ReadonlyArray<{ readonly session_number: number; readonly shared: ReadonlyArray<SharedPiece> }>
  ) {
    const pieces = new Map(owners.flatMap(({ shared }) => shared.map((each) => [hexOf(each.sha256), each] as const)))
    // All transactions take them in this order.
    const names = Array.from(pieces.keys()).sort()
    const added: Array<SharedPiece> = []
    for (let at = 0; at < names.length; at += atOnce) {
      const missing = new Set(names.slice(at, at + atOnce))
      while (missing.size > 0) {
        const held = yield* sql<{ sha256: Uint8Array }>`SELECT sha256 FROM shared_pieces
          WHERE project_id = ${project_id} AND ${sql.in(
            "sha256",
            Array.from(missing, (name) => pieces.get(name)!.sha256)
          )}
          ORDER BY sha256 ${Locks.keyShare(sql)}`
        for (const { sha256 } of held) missing.delete(hexOf(sha256))
        for (const name of missing) {
          const piece = pieces.get(name)!
          const row = { project_id, sha256: piece.sha256, size: piece.size, piece: piece.bytes() }
          const inserted = yield* sql`INSERT INTO shared_pieces ${sql.insert(row)}
            ON CONFLICT (project_id, sha256) DO NOTHING RETURNING size`
          // Where somebody else was faster, theirs is to be held.
          if (inserted.length === 0) continue
          added.push(piece)
          missing.delete(name)
        }
      }
    }
    const rows = owners.flatMap(({ session_number, shared }) =>
      shared.map(({ sha256 }) => ({ project_id, session_number, sha256 }))
    )
    for (let at = 0; at < rows.length; at += atOnce) {
      yield* sql`INSERT INTO shared_piece_owners ${sql.insert(rows.slice(at, at + atOnce) as [(typeof rows)[number]])}
        ON CONFLICT (project_id, session_number, sha256) DO NOTHING`
    }
    return added
  })

  /** Lets a session own these names and no others, in a transaction. What nobody owns any more goes. */
  const disown = Effect.fnUntraced(function* (
    project_id: number,
    session_number: number,
    owned: ReadonlyArray<Uint8Array>
  ) {
    const kept = new Set(owned.map(hexOf))
    const rows = yield* sql<{ sha256: Uint8Array }>`SELECT sha256 FROM shared_piece_owners
      WHERE project_id = ${project_id} AND session_number = ${session_number} ORDER BY sha256`
    const names = rows.map(({ sha256 }) => sha256).filter((name) => !kept.has(hexOf(name)))
    let gone: Gone = { pieces: 0, size: 0, bytes: 0 }
    for (let at = 0; at < names.length; at += atOnce) {
      const isNamed = sql.and([sql`project_id = ${project_id}`, sql.in("sha256", names.slice(at, at + atOnce))])
      yield* sql`DELETE FROM shared_piece_owners WHERE ${isNamed} AND session_number = ${session_number}`
      // Whoever is about to own one holds it; a statement that begins after them sees that they do.
      yield* sql`SELECT sha256 FROM shared_pieces WHERE ${isNamed} ORDER BY sha256 ${Locks.update(sql)}`
      const deleted = yield* sql<{ size: number | string; bytes: number | string }>`DELETE FROM shared_pieces
        WHERE ${isNamed} AND NOT EXISTS (
          SELECT 1 FROM shared_piece_owners o
          WHERE o.project_id = shared_pieces.project_id AND o.sha256 = shared_pieces.sha256)
        RETURNING size, length(piece) AS bytes`
      for (const { bytes, size } of deleted) {
        gone = { pieces: gone.pieces + 1, size: gone.size + Number(size), bytes: gone.bytes + Number(bytes) }
      }
    }
    return gone
  })

  return { own, disown }
}
