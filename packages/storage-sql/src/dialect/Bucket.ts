/**
 * The column `bucket`, by which the rows of sessions are spread where a database is distributed: every row that belongs to a
 * session has it, last in the keys. Other databases do not have it: it follows from the session, so it would only cost space.
 *
 * The column does not hold the number of the bucket, but an integer that stands for it. Citus gives each shard a range of the
 * integers' hashes, and these integers have hashes at even distances: any power of two of shards up to 256 have equally many
 * buckets.
 */
import { Bucket, type EventId } from "@tachograph/core"
import type { SqlClient, Statement } from "effect/sql"

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

const numbers = new Map(integers.map((integer, bucket) => [integer, bucket]))

/** What the column holds for a bucket. */
const stored = (bucket: number): number => integers[bucket]!

/** What the column holds for a bucket of a shard with these hashes, which are signed and both included. Undefined if it has none. */
export const inShard = (first: number, last: number): number | undefined =>
  integers.find((integer) => hashOf(integer) - 2 ** 31 >= first && hashOf(integer) - 2 ** 31 <= last)

export const ofSession = (session: string): number => stored(Bucket.ofSession(session))

/** The bucket of the event with this id. */
export const ofEvent = (id: EventId): number => stored(Bucket.ofId(id))

/** The bucket of a group of parts that wait. */
export const ofGroup = (group: string): number => stored(Bucket.ofSession(group))

/** The bucket of a shared piece: pieces of a project are spread by their names. */
export const ofPiece = (sha256: Uint8Array): number => stored(sha256[0]!)

/** Whether all shards have equally many buckets: their number is a power of two of at most 256. */
export const isEvenOver = (shards: number): boolean => Bucket.count % shards === 0

/** For each bucket its shard, by the client of the database. Shards are numbered in the order of their hashes. */
const shardsOf = new WeakMap<SqlClient.SqlClient, ReadonlyArray<number>>()

/** Says that the database is distributed, and the first hash of each shard, signed and in ascending order. */
export const distributeOver = (sql: SqlClient.SqlClient, firstHashes: ReadonlyArray<number>): void => {
  shardsOf.set(
    sql,
    integers.map((integer) => firstHashes.findLastIndex((first) => first <= hashOf(integer) - 2 ** 31))
  )
}

/** Whether the database is distributed, and rows have the column. */
export const isDistributed = (sql: SqlClient.SqlClient): boolean => shardsOf.has(sql)

/** The lane of a session's events: the shard that they are on. */
export const laneOf = (sql: SqlClient.SqlClient, session: string): number =>
  shardsOf.get(sql)?.[Bucket.ofSession(session)] ?? 0

/** The numbers of a bucket's sessions have this distance, where the database is distributed. */
export const numberStep = Bucket.count

/** Below the numbers of the sessions of a session's bucket, where the database is distributed. */
export const firstNumber = (session: string): number => Bucket.ofSession(session)

/** The number that follows another one in the same bucket. */
export const nextNumber = (number: number): number => number + numberStep

/** The bucket of a session's number, where the database is distributed. */
export const ofNumber = (session: number): number => stored(session % Bucket.count)

/** The column among those of a statement that inserts many rows; each row has a property `bucket`. */
export const types = (sql: SqlClient.SqlClient): Readonly<Record<"bucket", "smallint">> =>
  (isDistributed(sql) ? { bucket: "smallint" } : {}) as Readonly<Record<"bucket", "smallint">>

/** The column of a row to insert. */
export const column = (sql: SqlClient.SqlClient, bucket: number): Readonly<Record<string, number>> =>
  isDistributed(sql) ? { bucket } : {}

/** Follows other columns: of a `SELECT`, or of a key in `ON CONFLICT`. */
export const andColumn = (sql: SqlClient.SqlClient, table = ""): Statement.Fragment =>
  sql.literal(isDistributed(sql) ? `, ${table}bucket` : "")

/** Follows a condition. Holds a table to these buckets, and so a statement to the nodes that have them. */
export const and = (
  sql: SqlClient.SqlClient,
  buckets: number | ReadonlyArray<number>,
  table = ""
): Statement.Fragment => {
  if (!isDistributed(sql)) return sql.literal("")
  const all = typeof buckets === "number" ? [buckets] : Array.from(new Set(buckets))
  return all.length === 1
    ? sql` AND ${sql.literal(`${table}bucket`)} = ${all[0]!}`
    : sql` AND ${sql.literal(`${table}bucket`)} = ANY(CAST(${`{${all.join(",")}}`} AS smallint[]))`
}

/** The condition for the rows of a session. */
export const isOfSession = (sql: SqlClient.SqlClient, project_id: number, session: number, table = "") => {
  const [project, number] = [sql.literal(`${table}project_id`), sql.literal(`${table}session_number`)]
  return sql`${project} = ${project_id} AND ${number} = ${session}${and(sql, ofNumber(session), table)}`
}

/** Follows the condition of a join of two tables: rows of a session join rows of the same node. */
export const andSame = (sql: SqlClient.SqlClient, a: string, b: string): Statement.Fragment =>
  sql.literal(isDistributed(sql) ? ` AND ${a}.bucket = ${b}.bucket` : "")

/**
 * Splits rows by shards, in the order of these, for statements that lock: a distributed database locks rows of one shard in a
 * statement. All rows together where the database is not distributed.
 */
export const split = <A>(
  sql: SqlClient.SqlClient,
  rows: ReadonlyArray<A>,
  bucketOf: (row: A) => number
): ReadonlyArray<{ readonly buckets: ReadonlyArray<number>; readonly rows: ReadonlyArray<A> }> => {
  const shards = shardsOf.get(sql)
  if (rows.length === 0) return []
  if (shards === undefined) return [{ buckets: [], rows }]
  const groups = Map.groupBy(rows, (row) => shards[numbers.get(bucketOf(row))!]!)
  return Array.from(groups)
    .sort(([a], [b]) => a - b)
    .map(([, group]) => ({ buckets: Array.from(new Set(group.map(bucketOf))).sort((a, b) => a - b), rows: group }))
}
