import { Effect, Fiber, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { copyFileSync, existsSync, readFileSync, renameSync, statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "vitest"
import { bundle } from "../../../../scripts/vitest/Program.ts"
import * as Scrub from "../../src/scrub/Scrub.ts"
import * as SqliteClient from "../../src/SqliteClient.ts"
import { foundIn, logOfOnePage } from "../RawFiles.ts"
import { temporaryFile } from "../TemporaryFile.ts"
import { plant, type Planted, touch } from "./Planted.ts"

type Body<A, E> = (
  sql: SqliteClient.SqliteClient,
  file: string
) => Effect.Effect<A, E, Scope.Scope | Reactivity.Reactivity>

const run = <A, E>(body: Body<A, E>, file = temporaryFile()) =>
  SqliteClient.make({ filename: file }).pipe(
    Effect.flatMap((sql) => body(sql, file)),
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.runPromise
  )

const scrub = (sql: SqliteClient.SqliteClient, maxMs = Number.POSITIVE_INFINITY) =>
  Effect.andThen(Scrub.request(sql), Scrub.run(sql, maxMs))

const versionOf = (sql: SqliteClient.SqliteClient) =>
  Effect.map(sql<{ user_version: number }>`PRAGMA user_version`, ([row]) => row!.user_version)

const expectIntact = Effect.fnUntraced(function* (sql: SqliteClient.SqliteClient, { kept }: Planted) {
  expect((yield* sql`PRAGMA integrity_check`)[0]).toEqual({ integrity_check: "ok" })
  const rows = yield* sql<{ name: string; properties: string }>`SELECT name, properties FROM people ORDER BY number`
  expect(rows.map(({ name }) => name)).toEqual(kept)
  expect(rows.filter(({ name, properties }) => !properties.startsWith(`{"name":"${name}"`))).toEqual([])
})

/** Copies everything from the log into the file, where it can be seen. */
const checkpoint = (sql: SqliteClient.SqliteClient) => sql`PRAGMA wal_checkpoint(TRUNCATE)`

const reasonOf = <A, R>(effect: Effect.Effect<A, { readonly reason: { readonly _tag: string } }, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason._tag)

const started = (child: ChildProcess) => new Promise<void>((resolve) => child.stdout!.once("data", () => resolve()))
const ended = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)))

const program = await bundle("sqlite-scrub", new URL("../fixtures/scrub.ts", import.meta.url))

/** Scrubs in a process of its own. */
const scrubbing = (file: string, milliseconds: number) =>
  spawn(process.execPath, [program.file, file, String(milliseconds)], { stdio: ["ignore", "pipe", "inherit"] })

describe("Scrub", () => {
  it("removes copies of rows that SQLite has moved, and empties the log", () =>
    run(
      Effect.fnUntraced(function* (sql, file) {
        const planted = yield* plant(sql, 600)
        yield* checkpoint(sql)
        // SQLite overwrites deleted rows, but not these copies.
        expect(foundIn(file, planted.erased).length).toBeGreaterThan(0)
        const scrubbed = yield* scrub(sql)
        expect(scrubbed!.overwritten).toBeGreaterThan(0)
        expect(foundIn(file, planted.erased)).toEqual([])
        expect(statSync(`${file}-wal`).size).toBeLessThanOrEqual(logOfOnePage)
        expect(yield* versionOf(sql)).toBe(0)
        yield* expectIntact(sql, planted)
        // Nothing is left to do.
        expect((yield* scrub(sql))!.overwritten).toBe(0)
      })
    ))

  it("does nothing unless it is due", () =>
    run(
      Effect.fnUntraced(function* (sql, file) {
        const { erased } = yield* plant(sql, 600)
        yield* checkpoint(sql)
        expect(yield* Scrub.run(sql, Number.POSITIVE_INFINITY)).toBeUndefined()
        expect(foundIn(file, erased).length).toBeGreaterThan(0)
      })
    ))

  it("works in steps of at most 4 MiB, between which others commit, and removes what these commit again", () =>
    run(
      Effect.fnUntraced(function* (sql, file) {
        const planted = yield* plant(sql, 600, 6_000)
        yield* checkpoint(sql)
        // Fills the connection's cache with the pages that hold copies.
        yield* touch(sql)
        let isOver = false
        let commits = 0
        const committing = yield* Effect.forkChild(
          Effect.gen(function* () {
            while (!isOver) {
              yield* touch(sql)
              commits++
              yield* Effect.yieldNow
            }
          })
        )
        while (commits < 3) yield* Effect.yieldNow
        const before = commits
        const scrubbed = yield* scrub(sql)
        const during = commits - before
        isOver = true
        yield* Fiber.join(committing)
        expect(scrubbed!.largestStepBytes).toBe(4 * 1024 * 1024)
        expect(scrubbed!.read).toBeGreaterThan(6_000)
        // 6,000 pages are 6 steps.
        expect(during).toBeGreaterThan(5)
        yield* checkpoint(sql)
        expect(foundIn(file, planted.erased)).toEqual([])
        yield* expectIntact(sql, planted)
      })
    ))

  it("removes copies from the caches of other connections, which would commit them again", () =>
    run(
      Effect.fnUntraced(function* (sql, file) {
        const other = yield* SqliteClient.make({ filename: file })
        const planted = yield* plant(sql, 600)
        for (const each of [sql, other]) yield* each`SELECT sum(length(properties)) FROM people`
        yield* scrub(sql)
        for (const each of [sql, other]) {
          yield* touch(each)
          yield* checkpoint(each)
          expect(foundIn(file, planted.erased)).toEqual([])
        }
        yield* expectIntact(sql, planted)
      })
    ))

  it("waits for a reader of an older state, gives up after some seconds, and is still due", () =>
    run(
      Effect.fnUntraced(function* (sql, file) {
        const planted = yield* plant(sql, 600)
        const reader = new DatabaseSync(file, { readOnly: true })
        reader.exec("BEGIN; SELECT count(*) FROM people")
        yield* touch(sql)
        expect(yield* reasonOf(scrub(sql))).toBe("LockTimeoutError")
        expect(yield* versionOf(sql)).toBe(1)
        const waiting = yield* Effect.forkChild(Scrub.run(sql, Number.POSITIVE_INFINITY))
        yield* Effect.sleep(100)
        expect(foundIn(file, planted.erased).length).toBeGreaterThan(0)
        reader.close()
        yield* Fiber.join(waiting)
        expect(foundIn(file, planted.erased)).toEqual([])
        yield* expectIntact(sql, planted)
      })
    ))

  it("stops when its time is over, and is still due", () =>
    run(
      Effect.fnUntraced(function* (sql, file) {
        const planted = yield* plant(sql, 600)
        expect(yield* scrub(sql, 0)).toBeUndefined()
        expect(yield* versionOf(sql)).toBe(1)
        yield* expectIntact(sql, planted)
        yield* Scrub.run(sql, Number.POSITIVE_INFINITY)
        expect(foundIn(file, planted.erased)).toEqual([])
      })
    ))

  it("writes nothing to a file that has replaced the open one", () =>
    run(
      Effect.fnUntraced(function* (sql, file) {
        const { erased } = yield* plant(sql, 600)
        yield* checkpoint(sql)
        copyFileSync(file, `${file}.copy`)
        renameSync(`${file}.copy`, file)
        const before = readFileSync(file)
        expect(foundIn(file, erased).length).toBeGreaterThan(0)
        expect(yield* reasonOf(scrub(sql))).toBe("ConnectionError")
        expect(readFileSync(file).equals(before)).toBe(true)
      })
    ))

  it("refuses a file with a pointer map, whose pages look like others", () => {
    const file = temporaryFile()
    const database = new DatabaseSync(file)
    database.exec(
      "PRAGMA auto_vacuum = FULL; VACUUM; PRAGMA journal_mode = WAL; CREATE TABLE tachograph_migrations (a)"
    )
    database.close()
    return run(
      Effect.fnUntraced(function* (sql) {
        const error = yield* Effect.flip(scrub(sql))
        expect(String(error.reason.cause)).toContain("pointer map")
        expect(yield* versionOf(sql)).toBe(1)
      }),
      file
    )
  })

  it.each([512, 65_536])("works with pages of %i bytes", (bytes) => {
    const file = temporaryFile()
    const database = new DatabaseSync(file)
    database.exec(`PRAGMA page_size = ${bytes}; VACUUM`)
    database.close()
    return run(
      Effect.fnUntraced(function* (sql) {
        expect((yield* sql`PRAGMA page_size`)[0]).toEqual({ page_size: bytes })
        const planted = yield* plant(sql, 600, 100)
        expect((yield* scrub(sql))!.overwritten).toBeGreaterThan(0)
        expect(foundIn(file, planted.erased)).toEqual([])
        yield* expectIntact(sql, planted)
      }),
      file
    )
  })

  it("keeps the locks of this process's connections", () =>
    run(
      Effect.fnUntraced(function* (sql, file) {
        const planted = yield* plant(sql, 200)
        yield* Effect.scoped(Effect.flatMap(SqliteClient.make({ filename: file }), (other) => scrub(other)))
        yield* scrub(sql)
        yield* touch(sql)
        // The last process that closes the file removes the log; without its locks this process would not count.
        const close = `new (require("node:sqlite").DatabaseSync)(${JSON.stringify(file)}).prepare("SELECT 1 FROM people").all()`
        expect(spawnSync(process.execPath, ["-e", close]).status).toBe(0)
        expect(existsSync(`${file}-wal`)).toBe(true)
        yield* touch(sql)
        yield* expectIntact(sql, planted)
      })
    ))

  it(
    "leaves an intact file when its process is killed at any time, and completes at the next time",
    { timeout: 120_000 },
    async () => {
      const file = temporaryFile()
      const planted = await run((sql) => plant(sql, 600, 3_000), file)
      for (const milliseconds of [5, 50, 200]) {
        const child = scrubbing(file, 60_000)
        await started(child)
        await new Promise((resolve) => setTimeout(resolve, milliseconds))
        const end = ended(child)
        child.kill("SIGKILL")
        await end
        await run((sql) => expectIntact(sql, planted), file)
      }
      await run(
        Effect.fnUntraced(function* (sql) {
          yield* touch(sql)
          yield* scrub(sql)
          expect(foundIn(file, planted.erased)).toEqual([])
          yield* expectIntact(sql, planted)
        }),
        file
      )
    }
  )

  it(
    "leaves an intact file when two processes scrub at the same time while both commit",
    { timeout: 120_000 },
    async () => {
      const file = temporaryFile()
      const planted = await run((sql) => plant(sql, 600, 3_000), file)
      expect(await Promise.all([1, 2].map(() => ended(scrubbing(file, 3_000))))).toEqual([0, 0])
      await run(
        Effect.fnUntraced(function* (sql) {
          yield* expectIntact(sql, planted)
          yield* scrub(sql)
          expect(foundIn(file, planted.erased)).toEqual([])
        }),
        file
      )
    }
  )
})
