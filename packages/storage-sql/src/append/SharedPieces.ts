/** Pieces that are stored once per project, and the sessions that own them. */
import { compressPieces, type SharedPiece, sharedPieceChecksum } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Locks from "../dialect/Locks.ts"
import * as StoredBytes from "../dialect/StoredBytes.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import * as Attempts from "../sql/Attempts.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as PieceRows from "./PieceRows.ts"

/** Bytes of text that are not compressed while a transaction is open. */
const prepareFromBytes = 256 * 1024

const ownerTypes = {
  project_id: "integer",
  session_number: "integer",
  sha256: "bytea"
} as const satisfies BulkValues.Types

/**
 * What to do about pieces that exist: compare them with their checksums, and store those again that are damaged, so that no
 * acknowledged event refers to them; or store all of them again, because the database cannot read one.
 */
export type Existing = "compare" | "replace"

/** The names, in hexadecimal, of pieces that did not exist before the transaction, by their project's number. */
export type Missing = ReadonlyMap<number, ReadonlySet<string>>

interface Locked {
  readonly sha256: Uint8Array
  readonly checksum: Integer
  readonly piece: Uint8Array | null
}

export const make = (sql: SqlClient.SqlClient) => {
  const { insert, replace } = PieceRows.make(sql)
  const ownerColumns = BulkValues.make(sql, BulkValues.named({ ...ownerTypes, ...Bucket.types(sql) }))
  const columnsFor: Readonly<Record<Existing, Statement.Fragment>> = {
    compare: sql`sha256, checksum, ${StoredBytes.select(sql, "piece")}`,
    replace: sql.literal("sha256, 0 AS checksum, NULL AS piece")
  }
  const maxShortRows = BulkValues.maxShortRows(sql)
  const isNamed = (names: ReadonlyArray<Uint8Array>) => BulkValues.isAmong(sql, "sha256", "bytea", names)

  /**
   * Stores pieces and their owners, in a transaction. Locks the pieces that exist, so that none of them is deleted for want
   * of owners before the transaction ends. Counts the pieces that are new in `increments`.
   */
  const own = Effect.fnUntraced(function* (
    project_id: number,
    owners: ReadonlyArray<{ readonly session_number: number; readonly shared: ReadonlyArray<SharedPiece> }>,
    existing: Existing,
    missingBefore: Missing,
    increments: SpaceCounters.Increments
  ) {
    if (owners.every(({ shared }) => shared.length === 0)) return
    const pieces = new Map(
      owners.flatMap(({ shared }) => shared.map((each) => [Hex.encode(each.sha256), each] as const))
    )
    const isNew = missingBefore.get(project_id) ?? new Set<string>()
    // All transactions lock them in this order.
    const byShard = Bucket.split(sql, Array.from(pieces.keys()).sort(), (name) =>
      Bucket.ofPiece(pieces.get(name)!.sha256)
    )
    const chunks = byShard.flatMap(({ buckets, rows }) =>
      BulkValues.chunks(rows, maxShortRows).map((chunk) => [buckets, chunk] as const)
    )
    for (const [buckets, names] of chunks) {
      const missing = new Set(names)
      const attempt = Attempts.make("Storing shared pieces")
      let maybeExisting = names.filter((name) => !isNew.has(name))
      while (missing.size > 0) {
        for (const chunk of BulkValues.chunks(maybeExisting)) {
          const wanted = chunk.map((name) => pieces.get(name)!.sha256)
          const locked = yield* sql<Locked>`SELECT ${columnsFor[existing]} FROM shared_pieces
            WHERE project_id = ${project_id} AND ${isNamed(wanted)}${Bucket.and(sql, buckets)} ORDER BY sha256 ${Locks.keyShare(sql)}`
          for (const row of locked) {
            const name = Hex.encode(row.sha256)
            missing.delete(name)
            if (row.piece === null || sharedPieceChecksum(row.piece) !== Number(row.checksum))
              yield* replace(project_id, pieces.get(name)!)
          }
        }
        yield* attempt
        // Those that another transaction has inserted meanwhile stay missing: the next round locks them.
        for (const name of yield* insert(
          project_id,
          Array.from(missing, (each) => pieces.get(each)!)
        )) {
          const { bytes, sha256, size } = pieces.get(name)!
          const counted = { entries: 1, new_bytes: size, stored_bytes: bytes().length }
          increments.add(SpaceCounters.ofPieces(sql, Bucket.ofPiece(sha256)), counted)
          missing.delete(name)
        }
        maybeExisting = Array.from(missing)
      }
    }
    const rows = owners.flatMap(({ session_number, shared }) =>
      shared.map(({ sha256 }) => ({ project_id, session_number, sha256, bucket: Bucket.ofPiece(sha256) }))
    )
    for (const chunk of BulkValues.chunks(rows, maxShortRows)) {
      yield* sql`INSERT INTO shared_piece_owners ${ownerColumns.names} ${ownerColumns.toInsert(chunk)}
        ON CONFLICT (project_id, session_number, sha256${Bucket.andColumn(sql)}) DO NOTHING`
    }
  })

  /**
   * Compresses the pieces that do not exist yet, before the transaction that stores them: thousands of pieces take seconds,
   * in which it would hold its locks. Few pieces are compressed in the transaction. Returns the names of those that it has not
   * found.
   */
  const prepare = Effect.fnUntraced(function* (project_id: number, pieces: ReadonlyArray<SharedPiece>) {
    const missing = new Map(pieces.map((each) => [Hex.encode(each.sha256), each]))
    if (sum(missing.values(), ({ size }) => size) < prepareFromBytes) return new Set<string>()
    for (const names of BulkValues.chunks(Array.from(missing.keys()), maxShortRows)) {
      const wanted = names.map((name) => missing.get(name)!.sha256)
      const existing = yield* sql<{ sha256: Uint8Array }>`SELECT sha256 FROM shared_pieces
        WHERE project_id = ${project_id} AND ${isNamed(wanted)}${Bucket.and(sql, wanted.map(Bucket.ofPiece))}`
      for (const { sha256 } of existing) missing.delete(Hex.encode(sha256))
    }
    yield* compressPieces(missing.values())
    return new Set(missing.keys())
  })

  return { prepare, own }
}

export type SharedPieces = ReturnType<typeof make>

const sum = <A>(all: Iterable<A>, valueOf: (each: A) => number): number => {
  let total = 0
  for (const each of all) total += valueOf(each)
  return total
}
