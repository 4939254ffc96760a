/**
 * Removes what was erased from the files: overwrites the unallocated space of all pages of the database, and empties the
 * write-ahead log. Without it names and texts of what was erased could remain for years: `secure_delete` overwrites what is deleted, but
 * not the copies that SQLite leaves where it moves rows from page to page. `VACUUM` removes these too, but nothing is recorded while it
 * writes the whole file anew, and it needs the room of a second one, which a full disk does not have. Node's SQLite has no table of its
 * pages (`sqlite_dbpage`) through which they could be written.
 *
 * `user_version`, a number in the file's header that is free for applications, holds what is due, so a scrub
 * that was interrupted is made good by the next one.
 *
 * The pages are read and overwritten past SQLite, a step at a time, while a `FrozenFile` keeps SQLite from writing them and
 * recording continues in the log. Connections that have the former pages in their caches may commit them meanwhile. These pages
 * are overwritten again: the last of them in a transaction, whose commit makes every connection drop its cache.
 */
import * as Effect from "effect/Effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlError } from "effect/sql"
import { fdatasync, read, readSync, writeSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"
import type { OpenFile } from "../file/OpenFiles.ts"
import * as SqliteClient from "../SqliteClient.ts"
import * as SqliteErrors from "../SqliteErrors.ts"
import { FrozenFile } from "./FrozenFile.ts"
import * as UnallocatedSpace from "./UnallocatedSpace.ts"

/** Values of `user_version`. Any other one is a scrub. */
const due = { nothing: 0, scrub: 1, emptyLog: 2 }

/** Bytes that one step reads. Between two steps the event loop turns. */
const stepBytes = 4 * 1024 * 1024
/** Single pages that one step reads. */
const pagesPerStep = 256
/** Pages that are left for the last transaction. */
const maxPagesLeft = 1024
/** Milliseconds after which the file is brought up to date, so that this never copies much at a time. */
const advanceEveryMs = 250
/** How often, and after how many milliseconds, is tried again what readers of an older state of the file prevent. */
const readerRetries = 40
const readerWaitMs = 50

/** Where the header of the file has the reserved bytes of each page, and a number that is 0 without a pointer map. */
const headerBytes = 100
const reservedBytes = 20
const largestRoot = 52

interface Scrubbed {
  /** Pages that were read, how many of them were overwritten, and the most bytes that one step read. */
  read: number
  overwritten: number
  largestStepBytes: number
}

const readDue = (sql: SqliteClient.SqliteClient) =>
  Effect.map(sql<{ readonly user_version: number }>`PRAGMA user_version`, ([row]) => row!.user_version)

/** Requests a scrub, in the transaction that erases. */
export const request = (sql: SqliteClient.SqliteClient) =>
  Effect.asVoid(sql`PRAGMA user_version = ${sql.literal(String(due.scrub))}`)

export const isDue = (sql: SqliteClient.SqliteClient) => Effect.map(readDue(sql), (found) => found !== due.nothing)

const attempt = <A>(body: () => A) =>
  Effect.try({ try: body, catch: (cause) => SqliteErrors.toSqlError(cause, "scrub") })

const attemptPromise = <A>(body: () => Promise<A>) =>
  Effect.tryPromise({ try: body, catch: (cause) => SqliteErrors.toSqlError(cause, "scrub") })

const busy = () =>
  new SqlError.SqlError({
    reason: new SqlError.LockTimeoutError({
      cause: undefined,
      message: "A reader, such as a backup, uses an older state of the file",
      operation: "scrub"
    })
  })

/** Repeats what returns false because of readers, in real time: a scrub also runs when a storage is closed. */
const untilTrue = (effect: Effect.Effect<boolean, SqlError.SqlError>) =>
  Effect.gen(function* () {
    for (let left = readerRetries; !(yield* effect); left--) {
      if (left === 0) return yield* Effect.fail(busy())
      yield* Effect.promise(() => setTimeout(readerWaitMs))
    }
  })

/** Reads pages and overwrites what is unallocated in them. Works on one file, which must be frozen. */
class Overwriter {
  readonly #check: () => void
  readonly #descriptor: number
  readonly #pageBytes: number
  readonly #buffer: Buffer
  readonly done: Scrubbed = { read: 0, overwritten: 0, largestStepBytes: 0 }
  /** Whether something was written since the last `sync`. */
  isSynced = true

  /** `check` throws if the file is another one. */
  constructor(descriptor: number, pageBytes: number, check: () => void) {
    this.#check = check
    this.#descriptor = descriptor
    this.#pageBytes = pageBytes
    this.#buffer = Buffer.allocUnsafe(stepBytes)
  }

  checkFormat(): void {
    const header = Buffer.alloc(headerBytes)
    readSync(this.#descriptor, header, 0, headerBytes, 0)
    if (header[reservedBytes] !== 0 || header.readUInt32BE(largestRoot) !== 0) {
      throw new Error("The file has reserved bytes or a pointer map; run VACUUM to remove what was erased from it")
    }
  }

  /** A step over successive pages of at most `stepBytes`. */
  async range(from: number, count: number): Promise<void> {
    const { bytesRead } = await promisify(read)(
      this.#descriptor,
      this.#buffer,
      0,
      count * this.#pageBytes,
      (from - 1) * this.#pageBytes
    )
    this.#overwrite(from, bytesRead)
    this.#count(count)
  }

  /** A step over single pages, which were committed a moment ago and are in memory. */
  each(pages: ReadonlyArray<number>): void {
    for (const page of pages) {
      this.#overwrite(page, readSync(this.#descriptor, this.#buffer, 0, this.#pageBytes, (page - 1) * this.#pageBytes))
    }
    this.#count(pages.length)
  }

  #overwrite(from: number, bytes: number): void {
    this.#check()
    for (let at = 0; at + this.#pageBytes <= bytes; at += this.#pageBytes) {
      const space = UnallocatedSpace.find(this.#buffer.subarray(at, at + this.#pageBytes))
      if (space === undefined) continue
      const [start, end] = space
      writeSync(this.#descriptor, UnallocatedSpace.zeros, 0, end - start, (from - 1) * this.#pageBytes + at + start)
      this.done.overwritten++
      this.isSynced = false
    }
  }

  #count(pages: number): void {
    this.done.read += pages
    this.done.largestStepBytes = Math.max(this.done.largestStepBytes, pages * this.#pageBytes)
  }
}

/** Returns what was done, or `undefined` if the time was over before. */
const overwrite = Effect.fnUntraced(function* (client: SqliteClient.SqliteClient, file: OpenFile, untilMs: number) {
  yield* client.verifyFile
  const descriptor = yield* attempt(file.descriptor)
  // Its commit makes the other connections drop their caches, and so also that of `client`.
  const last = yield* SqliteClient.make({ filename: file.path })
  const frozen = yield* Effect.acquireRelease(
    attempt(() => new FrozenFile(file.path)),
    (each) => Effect.sync(() => each.close())
  )
  const overwriter = new Overwriter(descriptor, frozen.pageBytes, client.checkFile)
  /** All pages before this one were overwritten. The first page holds the schema, and no data. */
  let next = 2
  /** The pages among them that were committed since. */
  const again = new Set<number>()
  let advancedAtMs = 0

  const advance = attempt(() => {
    client.checkFile()
    const committed = frozen.advance()
    if (committed === undefined) return false
    if (frozen.pages >= UnallocatedSpace.maxPages)
      throw new Error("The file is too large; run VACUUM to remove what was erased")
    for (const page of committed) if (page > 1 && page < next && page <= frozen.pages) again.add(page)
    advancedAtMs = performance.now()
    return true
  })
  const overwriteAgain = (count: number) =>
    attempt(() => {
      const pages = Array.from(again).slice(0, count)
      overwriter.each(pages)
      for (const page of pages) again.delete(page)
    })
  const sync = attemptPromise(async () => {
    if (overwriter.isSynced) return
    overwriter.isSynced = true
    await promisify(fdatasync)(descriptor)
  })

  yield* untilTrue(advance)
  yield* attempt(() => overwriter.checkFormat())
  while (next <= frozen.pages || again.size > maxPagesLeft) {
    if (performance.now() >= untilMs) return undefined
    if (next <= frozen.pages) {
      const count = Math.min(stepBytes / frozen.pageBytes, frozen.pages - next + 1)
      // The descriptor must not be closed while it is read.
      yield* Effect.uninterruptible(attemptPromise(() => overwriter.range(next, count)))
      next += count
    } else {
      yield* overwriteAgain(pagesPerStep)
      yield* Effect.yieldNow
    }
    if (performance.now() - advancedAtMs >= advanceEveryMs) yield* untilTrue(advance)
  }
  yield* Effect.uninterruptible(sync)
  const finish = last.withTransaction(
    Effect.gen(function* () {
      // Nothing is committed from here on.
      if (!(yield* advance)) return false
      while (again.size > 0) yield* overwriteAgain(pagesPerStep)
      yield* sync
      yield* last`PRAGMA user_version = ${last.literal(String(due.emptyLog))}`
      return true
    })
  )
  // The client's other users wait for its connection instead of the lock.
  yield* untilTrue(Effect.uninterruptible(Effect.scoped(Effect.andThen(client.reserve, finish))))
  return overwriter.done
})

/** Fails if it cannot be emptied. */
const emptyLog = Effect.fnUntraced(function* (sql: SqliteClient.SqliteClient) {
  const truncate = Effect.map(
    sql<{ readonly busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`,
    ([row]) => row!.busy === 0
  )
  yield* untilTrue(truncate)
  // In a log that is not empty other processes find what the file goes on from.
  yield* sql.withTransaction(
    Effect.gen(function* () {
      // Something else may have been erased since.
      if ((yield* readDue(sql)) === due.emptyLog) yield* sql`PRAGMA user_version = ${sql.literal(String(due.nothing))}`
    })
  )
})

/**
 * Scrubs, if it is due. Stops after `maxMs` milliseconds; what is left then is still due. Fails with `LockTimeoutError` if a
 * reader keeps an older state of the file open for some seconds.
 */
export const run = Effect.fnUntraced(function* (client: SqliteClient.SqliteClient, maxMs: number) {
  const { file } = client
  let scrubbed: Scrubbed | undefined
  const untilMs = performance.now() + maxMs
  const found = file === undefined ? due.nothing : yield* readDue(client)
  if (file !== undefined && found !== due.nothing && found !== due.emptyLog) {
    scrubbed = yield* Effect.scoped(overwrite(client, file, untilMs))
    if (scrubbed === undefined) return undefined
  }
  if (found !== due.nothing) yield* emptyLog(client)
  return scrubbed
}, Effect.provide(Reactivity.layer))
