/**
 * Faults of the database while clients record. Starts a PostgreSQL of its own, to stop and freeze it.
 *
 *   FAULT_ROUNDS=10 TACHOGRAPH_TEST_SEED=7 npm test -- packages/storage-postgres/test/Faults
 */
import { createTachograph, type Tachograph } from "@tachograph/router"
import { HttpClient, TestSeed } from "@tachograph/testkit"
import { Context, Effect, Exit, Layer, Logger, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { type OwnPostgres, startPostgres } from "./StartPostgres.ts"

const rounds = Number(process.env["FAULT_ROUNDS"] ?? 1)
const { seed } = TestSeed
const key = "a key for the faults"

let postgres: OwnPostgres
let tachograph: Tachograph
let client: HttpClient.Client
let fingerprintId: string

beforeAll(async () => {
  postgres = await startPostgres(["max_connections=12", "superuser_reserved_connections=0"])
  tachograph = await createTachograph({
    storage: PostgresStorage.layer({ url: postgres.url, maxConnections: 4, operationTimeout: 2_000 }).pipe(
      Layer.provideMerge(Logger.layer([]))
    ),
    apiKeys: [key]
  })
  client = HttpClient.make(tachograph.fetch, key)
  fingerprintId = await tachograph.fingerprint({ language: "l", language_version: "v", system: "s" })
})

afterAll(async () => {
  await tachograph.close()
  await postgres.remove()
})

const send = (session: string) =>
  client.post("/api/v1/events", {
    event_name: "llm",
    properties: { api: "aisdk", inputs: {}, output: {} },
    fingerprint_id: fingerprintId,
    session
  })

/** Opens a connection of another client. */
const connect = async () => {
  const scope = Scope.makeUnsafe()
  const config = { url: postgres.url, maxConnections: 1, operationTimeout: 60_000 }
  const context = await Effect.runPromise(Layer.buildWithScope(PostgresStorage.client(config), scope))
  const sql = Context.get(context, SqlClient.SqlClient)
  return { sql, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** Opens a connection when the server has one left: those of a test before end a moment after they are closed. */
const connectWhenFree = async () => {
  const other = await connect()
  await Effect.runPromise(other.sql`SELECT 1`.pipe(Effect.retry({ schedule: Schedule.spaced(50), times: 100 })))
  return other
}

/**
 * Takes every connection of the database. Ends those of the storage, whose timers may open one at any moment, until all
 * that are open are ours.
 */
const takeAllConnections = async () => {
  const others: Array<Awaited<ReturnType<typeof connect>>> = []
  for (;;) {
    const other = await connect()
    const exit = await Effect.runPromise(Effect.exit(other.sql`SELECT 1`))
    if (exit._tag === "Success") {
      others.push(other)
      continue
    }
    await other.close()
    const [first] = others
    if (first === undefined) continue
    const open = await Effect.runPromise(
      first.sql<{ pid: number }>`SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'`
    )
    if (open.length === others.length) return others
    const own = await Promise.all(
      others.map(({ sql }) => Effect.runPromise(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`))
    )
    for (const { pid } of open) {
      if (!own.some(([row]) => row?.pid === pid))
        await Effect.runPromise(first.sql`SELECT pg_terminate_backend(${pid})`)
    }
  }
}

describe(`Faults of the database, ${rounds} rounds, seed ${seed}`, () => {
  const delays = fc.sample(fc.integer({ min: 50, max: 800 }), { seed, numRuns: rounds })
  const until200 = async (maxMs: number) => {
    const startedAt = Date.now()
    while ((await send("recovery")).status !== 200) {
      if (Date.now() - startedAt > maxMs) return Number.POSITIVE_INFINITY
      await wait(20)
    }
    return Date.now() - startedAt
  }

  it.each(delays.map((delay, round) => [round + 1, delay] as const))(
    "round %i: loses nothing acknowledged in a restart after %i ms, and recovers within 5 s",
    async (round, delay) => {
      const session = `restart ${round}`
      const acknowledged: Array<string> = []
      const refusals = new Set<string>()
      let running = true
      const worker = async () => {
        while (running) {
          const { body, headers, status } = await send(session)
          if (status === 200) acknowledged.push(body.event_id)
          else refusals.add(`${status} ${body.type} ${headers.get("retry-after") !== null}`)
          await wait(1)
        }
      }
      const workers = Array.from({ length: 8 }, worker)
      await wait(delay)
      await postgres.stop()
      await wait(300)
      await postgres.start()
      expect(await until200(5_000)).toBeLessThanOrEqual(5_000)
      await wait(200)
      running = false
      await Promise.all(workers)
      // On a busy machine, what waits for the restart is also refused as overload.
      refusals.delete("503 overloaded true")
      expect(Array.from(refusals)).toEqual(["503 storage-unavailable true"])
      for (const id of acknowledged) expect((await client.get(`/api/v1/events/${id}`)).status).toBe(200)
      // An event that got a 503 may be stored too, if the response to COMMIT was lost. No event is stored twice.
      const { body } = await client.get(`/api/v1/events?session=${encodeURIComponent(session)}&limit=1000`)
      const stored = body.events.map((event: { event_id: string }) => event.event_id)
      if (body.next_cursor === null) expect(acknowledged.every((id) => stored.includes(id))).toBe(true)
      expect(new Set(stored).size).toBe(stored.length)
    }
  )

  it.each(delays.map((_, round) => [round + 1]))(
    "round %i: fails within the timeout while no connection is available, and recovers",
    async () => {
      await postgres.stop()
      await postgres.start()
      const others = await takeAllConnections()
      expect(others.length).toBeGreaterThan(5)
      const startedAt = Date.now()
      const answers = await Promise.all(Array.from({ length: 20 }, () => send("exhausted")))
      expect(Date.now() - startedAt).toBeLessThan(6_000)
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
      await Promise.all(others.map((other) => other.close()))
      expect(await until200(5_000)).toBeLessThanOrEqual(5_000)
    }
  )

  it("cancels a statement that hangs, and recovers", async () => {
    const other = await connectWhenFree()
    const locked = Promise.withResolvers<void>()
    const locking = Effect.runPromise(
      other.sql.withTransaction(
        other.sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`.pipe(
          Effect.andThen(Effect.sync(locked.resolve)),
          Effect.andThen(Effect.sleep(5_000))
        )
      )
    )
    await Promise.race([locked.promise, locking])
    const startedAt = Date.now()
    const answers = await Promise.all([send("hung"), send("hung")])
    expect(answers.map(({ status }) => status)).toEqual([503, 503])
    expect(Date.now() - startedAt).toBeLessThan(4_500)
    await locking
    await other.close()
    expect(await until200(5_000)).toBeLessThanOrEqual(5_000)
  })

  it("responds within the timeout while the database is frozen, and recovers", async () => {
    const other = await connectWhenFree()
    const rows = await Effect.runPromise(
      other.sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`
    )
    await other.close()
    let running = true
    const durations: Array<number> = []
    const worker = async () => {
      while (running) {
        const startedAt = Date.now()
        await send("frozen")
        durations.push(Date.now() - startedAt)
      }
    }
    const workers = Array.from({ length: 8 }, worker)
    await wait(100)
    for (const { pid } of rows) process.kill(pid, "SIGSTOP")
    await wait(6_000)
    for (const { pid } of rows) process.kill(pid, "SIGCONT")
    running = false
    await Promise.all(workers)
    expect(rows.length).toBeGreaterThan(0)
    // The timeout is 2 s; the rest allows for a busy machine.
    expect(Math.max(...durations)).toBeLessThan(4_000)
    expect(await until200(5_000)).toBeLessThanOrEqual(5_000)
  })
})
