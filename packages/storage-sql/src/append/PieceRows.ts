/** Writes the rows of shared pieces. */
import { compressPieces, type SharedPiece, sharedPieceChecksum } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"

/** Stored bytes of pieces in one statement, and at least one piece. */
const maxStatementBytes = 4 * 1024 * 1024

const pieceTypes = {
  project_id: "integer",
  sha256: "bytea",
  size: "integer",
  checksum: "integer",
  piece: "bytea"
} as const satisfies BulkValues.Types

export const make = (sql: SqlClient.SqlClient) => {
  const pieceColumns = BulkValues.make(sql, BulkValues.named({ ...pieceTypes, ...Bucket.types(sql) }))
  const maxShortRows = BulkValues.maxShortRows(sql)

  /** Inserts the pieces that do not exist, in their order. Returns the names of those that it inserted. */
  const insert = Effect.fnUntraced(function* (project_id: number, pieces: ReadonlyArray<SharedPiece>) {
    yield* compressPieces(pieces)
    const inserted: Array<string> = []
    for (const chunk of chunksOf(pieces, maxShortRows)) {
      const rows = chunk.map(({ bytes, sha256, size }) => ({
        project_id,
        sha256,
        bucket: Bucket.ofPiece(sha256),
        size,
        checksum: sharedPieceChecksum(bytes()),
        piece: bytes()
      }))
      const added = yield* sql<{ sha256: Uint8Array }>`INSERT INTO shared_pieces ${pieceColumns.names}
        ${pieceColumns.toInsert(rows)} ON CONFLICT (project_id, sha256${Bucket.andColumn(sql)}) DO NOTHING RETURNING sha256`
      for (const { sha256 } of added) inserted.push(Hex.encode(sha256))
    }
    return inserted
  })

  /** Stores an existing piece again. The counters have counted it as it was first stored, and so as it is now. */
  const replace = (project_id: number, { bytes, sha256, size }: SharedPiece) =>
    sql`UPDATE shared_pieces SET size = ${size}, checksum = ${sharedPieceChecksum(bytes())}, piece = ${bytes()}
      WHERE project_id = ${project_id} AND sha256 = ${sha256}${Bucket.and(sql, Bucket.ofPiece(sha256))}`

  return { insert, replace }
}

/** Splits pieces by rows and by bytes. */
const chunksOf = (pieces: ReadonlyArray<SharedPiece>, maxRows: number): ReadonlyArray<ReadonlyArray<SharedPiece>> => {
  const chunks: Array<Array<SharedPiece>> = []
  let bytes = 0
  for (const piece of pieces) {
    const last = chunks.at(-1)
    bytes += piece.bytes().length
    if (last !== undefined && last.length < maxRows && bytes <= maxStatementBytes) {
      last.push(piece)
      continue
    }
    chunks.push([piece])
    bytes = piece.bytes().length
  }
  return chunks
}
