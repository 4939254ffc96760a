/** Reads the shared pieces that packs name. */
import type { ProjectId, StoredShared } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as UnfinishedCommits from "./UnfinishedCommits.ts"
import * as LongBytes from "./LongBytes.ts"
import type * as Projects from "../names/Projects.ts"
import { type Integer } from "../sql/RowDecoding.ts"

/** Names in one statement. */
const maxNames = 500

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const ofPieces = (project_id: number, names: ReadonlyArray<Uint8Array>) =>
    sql`project_id = ${project_id} AND ${sql.in("sha256", names)}${Bucket.and(sql, names.map(Bucket.ofPiece))}`

  /** The names, in their order, whose texts fit into `bytes` together. */
  const namesThatFit = Effect.fnUntraced(function* (
    project_id: number,
    names: ReadonlyArray<Uint8Array>,
    bytes: number
  ) {
    const sizes = new Map<string, number>()
    for (let at = 0; at < names.length; at += maxNames) {
      const chunk = names.slice(at, at + maxNames)
      const rows = yield* sql<{ sha256: Uint8Array; size: Integer }>`SELECT sha256, size FROM shared_pieces
        WHERE ${ofPieces(project_id, chunk)}`
      for (const { sha256, size } of rows) sizes.set(Hex.encode(sha256), Number(size))
    }
    let left = bytes
    return names.filter((name) => (left -= sizes.get(Hex.encode(name)) ?? 0) >= 0)
  })

  const readShared = Effect.fn("SqlStorage.readShared")(function* (
    project: ProjectId,
    names: ReadonlyArray<Uint8Array>,
    maxBytes?: number
  ) {
    const number = yield* projects.find(project)
    const wanted = maxBytes === undefined ? names : yield* namesThatFit(number, names, maxBytes)
    const pieces = yield* readPieces(number, wanted)
    const isComplete = pieces.length === wanted.length || pieces.length === new Set(wanted.map(Hex.encode)).size
    if (isComplete || !(yield* UnfinishedCommits.wait(sql))) return pieces
    // All again: the size of one that was missing was not counted.
    return yield* readPieces(number, maxBytes === undefined ? names : yield* namesThatFit(number, names, maxBytes))
  })

  /** The pieces of these names that are found. */
  const readPieces = Effect.fnUntraced(function* (project_id: number, names: ReadonlyArray<Uint8Array>) {
    const pieces: Array<StoredShared> = []
    for (let at = 0; at < names.length; at += maxNames) {
      const chunk = names.slice(at, at + maxNames)
      const rows = yield* sql<{
        sha256: Uint8Array
        piece: Uint8Array | null
      }>`SELECT sha256, ${LongBytes.selectShort(sql, "piece")} FROM shared_pieces WHERE ${ofPieces(project_id, chunk)}`
      const long: Array<Uint8Array> = []
      for (const { piece, sha256 } of rows) {
        if (piece === null) long.push(sha256)
        else pieces.push({ sha256, bytes: piece, isOwned: true })
      }
      if (long.length === 0) continue
      const columns = { key: "sha256", bytes: "piece" }
      const isLong = ofPieces(project_id, long)
      const read = yield* LongBytes.read<Uint8Array>(sql, "shared_pieces", columns, isLong, Hex.encode)
      for (const { bytes, key } of read) pieces.push({ sha256: Uint8Array.from(key), bytes, isOwned: true })
    }
    return pieces
  })

  const sizeOf = (project_id: number, name: Uint8Array) =>
    Effect.map(
      sql<{ size: Integer }>`SELECT size FROM shared_pieces
        WHERE project_id = ${project_id} AND sha256 = ${name}${Bucket.and(sql, [Bucket.ofPiece(name)])}`,
      ([row]) => (row === undefined ? undefined : Number(row.size))
    )

  const sharedTextBytes = Effect.fn("SqlStorage.sharedTextBytes")(function* (project: ProjectId, name: Uint8Array) {
    const number = yield* projects.find(project)
    const size = yield* sizeOf(number, name)
    return size === undefined && (yield* UnfinishedCommits.wait(sql)) ? yield* sizeOf(number, name) : size
  })

  return { readShared, sharedTextBytes }
}
