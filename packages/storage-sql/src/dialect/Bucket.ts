/**
 * The column `bucket`, by which the rows of sessions are spread where a database is distributed: every row that belongs to a
 * session has it, last in the keys. Other databases do not have it: it follows from the session, so it would only cost space.
 *
 * The column does not hold the number of the bucket, but an integer that stands for it. Citus gives each shard a range of the
 * integers' hashes, and these integers have hashes at even distances: any power of two of shards up to 256 have equally many
 * buckets.
 */
import { Bucket } from "@tachograph/core"
import type { SqlClient, Statement } from "effect/sql"
import type * as BulkValues from "./BulkValues.ts"

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits))

/** `hashint2` of Postgres, as an unsigned number from the lowest hash on. It stays the same, as indexes on disk depend on it. */
const hashOf = (key: number): number => {
  let b = 0x9e3779b9 + 4 + 3923095
  let c = b
  let a = (b + key) | 0
  c = ((c ^ b) - rotate(b, 14)) | 0
  a = ((a ^ c) - rotate(c, 11)) | 0
  b = ((b ^ a) - rotate(a, 25)) | 0
  c = ((c ^ b) - rotate(b, 16)) | 0
  a = ((a ^ c) - rotate(c, 4)) | 0
  b = ((b ^ a) - rotate(a, 14)) | 0
  c = ((c ^ b) - rotate(b, 24)) | 0
  return c + 2 ** 31
}

/** For each bucket the smallest integer whose hash is in the bucket's part of all hashes. */
const integers: ReadonlyArray<number> = (() => {
  const found = new Map<number, number>()
  for (let key = 0; found.size < Bucket.count; key++) {
    const bucket = Math.floor((hashOf(key) / 2 ** 32) * Bucket.count)
    if (!found.has(bucket)) found.set(bucket, key)
  }
  return Array.from({ length: Bucket.count }, (_, bucket) => found.get(bucket)!)
})()

/** What the column holds for a bucket. */
const stored = (bucket: number): number => integers[bucket]!

export const ofSession = (session: string): number => stored(Bucket.ofSession(session))

/** Of the shared pieces of a project, which are spread by their names. */
export const ofPiece = (sha256: Uint8Array): number => stored(sha256[0]!)

const distributed = new WeakSet<SqlClient.SqlClient>()

/** Whether the database is distributed, and rows have the column. */
const exists = (sql: SqlClient.SqlClient): boolean => distributed.has(sql)

/** The column among those of a statement that inserts many rows; each row has a property `bucket`. */
export const types = (sql: SqlClient.SqlClient): Readonly<Record<"bucket", BulkValues.Type>> =>
  (exists(sql) ? { bucket: "smallint" } : {}) as Readonly<Record<"bucket", BulkValues.Type>>

/** The column of a row to insert. */
export const column = (sql: SqlClient.SqlClient, bucket: number): Readonly<Record<string, number>> =>
  exists(sql) ? { bucket } : {}

/** Follows other columns: of a `SELECT`, or of a key in `ON CONFLICT`. */
export const andColumn = (sql: SqlClient.SqlClient): Statement.Fragment => sql.literal(exists(sql) ? ", bucket" : "")
