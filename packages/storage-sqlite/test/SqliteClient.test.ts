import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as SqliteClient from "../src/SqliteClient.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const open = (filename = ":memory:", busyTimeout?: number) => SqliteClient.layer({ filename, busyTimeout })

describe("SqliteClient", () => {
  it.effect("uses WAL, and synchronizes every commit to the disk", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.deepEqual({ ...(yield* sql`PRAGMA journal_mode`)[0] }, { journal_mode: "wal" })
      assert.deepEqual({ ...(yield* sql`PRAGMA synchronous`)[0] }, { synchronous: 2 })
    }).pipe(Effect.provide(open(temporaryFile())))
  )

  it.effect("keeps statement journals in memory, and overwrites deleted content", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.deepEqual({ ...(yield* sql`PRAGMA temp_store`)[0] }, { temp_store: 2 })
      assert.deepEqual({ ...(yield* sql`PRAGMA secure_delete`)[0] }, { secure_delete: 1 })
    }).pipe(Effect.provide(open(temporaryFile())))
  )

  it.effect("keeps no large parameters of statements that it may run again", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const large = new Uint8Array(8 * 1024 * 1024).fill(1)
      const before = process.memoryUsage.rss()
      for (let n = 0; n < 40; n++) {
        const name = `bytes_${n}`
        const [row] = yield* sql`SELECT length(${large}) AS ${sql.literal(name)}`
        assert.deepEqual({ ...row }, { [name]: large.length })
      }
      assert.isBelow(process.memoryUsage.rss() - before, 20 * large.length)
    }).pipe(Effect.provide(open()))
  )

  it.effect("reports a unique violation", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE t (a INTEGER, b INTEGER, UNIQUE (a, b))`
      yield* sql`INSERT INTO t VALUES (1, 2)`
      const { reason } = yield* Effect.flip(sql`INSERT INTO t VALUES (1, 2)`)
      assert.strictEqual(reason._tag, "UniqueViolation")
    }).pipe(Effect.provide(open()))
  )

  it.effect("rolls back a transaction that fails, and a nested one to its savepoint", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE t (a INTEGER)`
      yield* Effect.exit(sql.withTransaction(Effect.andThen(sql`INSERT INTO t VALUES (1)`, Effect.fail("no"))))
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO t VALUES (2)`
          yield* Effect.exit(sql.withTransaction(Effect.andThen(sql`INSERT INTO t VALUES (3)`, Effect.fail("no"))))
        })
      )
      assert.deepEqual(
        (yield* sql`SELECT a FROM t`).map((row) => ({ ...row })),
        [{ a: 2 }]
      )
    }).pipe(Effect.provide(open()))
  )

  it.live("fails with LockTimeoutError if another connection keeps the lock", () => {
    const file = temporaryFile()
    return Effect.gen(function* () {
      const holder = yield* SqliteClient.make({ filename: file })
      const waiter = yield* SqliteClient.make({ filename: file, busyTimeout: 20 })
      yield* holder`CREATE TABLE t (a INTEGER)`
      const error = yield* holder.withTransaction(
        Effect.andThen(holder`INSERT INTO t VALUES (1)`, Effect.flip(waiter.withTransaction(waiter`SELECT 1`)))
      )
      assert.strictEqual(error._tag === "SqlError" && error.reason._tag, "LockTimeoutError")
      yield* waiter.withTransaction(waiter`INSERT INTO t VALUES (2)`)
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  })

  it.live("does not block the event loop while it waits for another connection's lock", () => {
    const file = temporaryFile()
    return Effect.gen(function* () {
      const holder = yield* SqliteClient.make({ filename: file })
      // It tries a fixed number of times, 84: a busy machine makes every try later, as it makes every turn.
      const waiter = yield* SqliteClient.make({ filename: file, busyTimeout: 1_000 })
      yield* holder`CREATE TABLE t (a INTEGER)`
      const order: Array<string> = []
      const isHeld = yield* Deferred.make<void>()
      // Ends only when the event loop has turned for it. Each turn takes as long as two tries, or longer.
      const turns = Effect.andThen(
        Effect.sleep(20),
        Effect.sync(() => order.push("turn"))
      )
      const holding = yield* Effect.forkChild(
        holder.withTransaction(Effect.andThen(Deferred.succeed(isHeld, undefined), Effect.replicateEffect(turns, 20)))
      )
      yield* Deferred.await(isHeld)
      order.push("wait")
      yield* waiter.withTransaction(waiter`INSERT INTO t VALUES (1)`)
      order.push("written")
      yield* Fiber.join(holding)
      assert.deepEqual(order, ["wait", ...Array<string>(20).fill("turn"), "written"])
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  })

  it.effect.each([
    ["/nowhere/at/all.db", "ConnectionError"],
    [import.meta.filename, "ConnectionError"]
  ])("fails to open %s", ([filename, reason]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.provide(Effect.void, open(filename)))
      assert.strictEqual(error.reason._tag, reason)
    })
  )
})
