/**
 * A primary, its standby, and servers that record while the one fails and the other is promoted. Each acknowledged event is on both
 * nodes, because the replication is synchronous.
 */
import { createTachograph, type Tachograph } from "@tachograph/router"
import { HttpClient } from "@tachograph/testkit"
import { Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { copyFiles, type Copy, query, startCopy, startStandby } from "./StartCopy.ts"
import { type Forwarder, startForwarder } from "./Forwarder.ts"
import { type OwnPostgres, startPostgres } from "./StartPostgres.ts"

const key = "a key for the failover"

let primary: OwnPostgres
let standby: Copy
let archive: string
let forwarders: ReadonlyArray<Forwarder>
let fingerprintId: string

/** A server, and what it has said in its log. */
class Recorder {
  readonly tachograph: Tachograph
  readonly client: HttpClient.Client
  readonly lines: ReadonlyArray<string>
  readonly acknowledged: Array<string> = []

  constructor(tachograph: Tachograph, lines: ReadonlyArray<string>) {
    this.tachograph = tachograph
    this.client = HttpClient.make(tachograph.fetch, key)
    this.lines = lines
  }

  static async open(config: Pick<PostgresStorage.PostgresConfig, "targetSessionAttrs" | "url">) {
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, message }) => {
      lines.push(`${String(message)} ${JSON.stringify(cause)} ${cause.reasons.map(texts).join(" ")}`)
    })
    const storage = PostgresStorage.layer({
      ...config,
      maxConnections: 4,
      operationTimeout: 2_000,
      connectTimeout: 1_000
    })
    const tachograph = await createTachograph({
      storage: storage.pipe(Layer.provideMerge(Logger.layer([logger]))),
      apiKeys: [key]
    })
    return new Recorder(tachograph, lines)
  }

  async record(idempotencyKey?: string): Promise<number> {
    const event = {
      event_name: "llm",
      properties: { api: "aisdk", inputs: {}, output: {} },
      fingerprint_id: fingerprintId,
      session: "failover"
    }
    const headers = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }
    const { body, status } = await this.client.call("POST", "/api/v1/events", event, headers)
    if (status === 200) this.acknowledged.push(body.event_id)
    return status
  }

  async ready(): Promise<number> {
    return (await this.client.get("/ready")).status
  }

  async read(): Promise<number> {
    return (await this.client.get(`/api/v1/events/${this.acknowledged[0]}`)).status
  }

  /** Records until it is told to end. */
  async load(signal: AbortSignal) {
    while (!signal.aborted) {
      await this.record()
      await wait(10)
    }
  }

  async until(status: number, ask: () => Promise<number> = () => this.record()) {
    const begunMs = Date.now()
    for (;;) {
      const answered = await ask()
      if (answered === status) return
      if (Date.now() - begunMs > untilMs) {
        throw new Error(`${answered} for ${untilMs} ms, and not ${status}: ${this.lines.slice(-3).join("\n")}`)
      }
      await wait(20)
    }
  }
}

/** How long a status is waited for (ms): generous, and less than the limit of a test, which would not say what was waited for. */
const untilMs = 60_000

/** The messages of an error and of its causes. */
const texts = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return ""
  const { cause, defect, error: inner, message, reason } = error as Readonly<Record<string, unknown>>
  return [typeof message === "string" ? message : "", ...[cause, defect, inner, reason].map(texts)].join(" ")
}

const rejection = (promise: Promise<unknown>) => promise.then(() => "", texts)

/** Settings that docs/postgres.md prints, with `folder` in place of its folder of the archived log. */
const documented = (names: ReadonlyArray<string>, folder: string): ReadonlyArray<string> => {
  const page = readFileSync(new URL("../../../docs/postgres.md", import.meta.url), "utf8")
  return names.map((name) => {
    const [, value] = new RegExp(`^${name} = '?(.*?)'?$`, "m").exec(page)!
    return `${name}=${value!.replaceAll("/backup/log", folder)}`
  })
}

beforeAll(async () => {
  archive = mkdtempSync(join(tmpdir(), "tachograph-log-"))
  // The server runs as another user, if the tests are run by root.
  chmodSync(archive, 0o777)
  const archiving = documented(["archive_mode", "archive_command"], archive)
  primary = await startPostgres(["max_connections=60", "wal_keep_size=64MB", ...archiving])
  standby = await startStandby(primary)
  // In the file, and not for the start: nothing commits before the standby follows.
  await query(primary.url, "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
  await query(primary.url, "SELECT pg_reload_conf()")
  forwarders = [await startForwarder(primary.url), await startForwarder(primary.url)]
  await Effect.runPromise(PostgresStorage.migrate({ url: primary.url }))
  const { tachograph } = await Recorder.open({ url: primary.url })
  fingerprintId = await tachograph.fingerprint({ language: "l", language_version: "v", system: "s" })
  await tachograph.close()
}, 60_000)

afterAll(async () => {
  for (const forwarder of forwarders) forwarder.close()
  await standby.remove()
  await primary.remove()
  rmSync(archive, { recursive: true, force: true })
})

describe("a Postgres that only reads", () => {
  it("is refused at the start, with what to do", async () => {
    const layers = [PostgresStorage.layer, PostgresStorage.layerNoMigrations]
    for (const layer of layers) {
      const opening = Effect.runPromise(Effect.scoped(Layer.build(layer({ url: standby.url }))))
      expect(await rejection(opening)).toContain("the database is a standby, which only reads")
    }
    const url = `${primary.url}?options=${encodeURIComponent("-c default_transaction_read_only=on")}`
    expect(await rejection(Effect.runPromise(PostgresStorage.migrate({ url })))).toContain(
      "default_transaction_read_only is on"
    )
    expect(await rejection(Recorder.open({ url: standby.url, targetSessionAttrs: "primary" }))).toContain("standby")
  })

  it("can be read", async () => {
    const layer = PostgresStorage.layerReadOnly({ url: standby.url })
    await Effect.runPromise(Effect.scoped(Layer.build(layer)))
  })

  it("is left by the connections that read, when the name leads to the primary", async () => {
    const [forwarder] = forwarders
    forwarder!.leadTo(standby.url)
    const config = { url: forwarder!.urlOf(primary.url), maxConnections: 2, readOnly: true }
    const isStandby = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ is: boolean; pid: number }>`SELECT pg_is_in_recovery() AS is, pg_backend_pid() AS pid`
    )
    const seen = await Effect.runPromise(
      Effect.gen(function* () {
        const first = yield* isStandby
        const second = yield* isStandby
        forwarder!.leadTo(primary.url)
        yield* Effect.sleep(1_100)
        return [first, second, yield* isStandby].map(([row]) => row!)
      }).pipe(Effect.provide(PostgresStorage.client(config)))
    )
    expect(seen.map(({ is }) => is)).toEqual([true, true, false])
    expect(seen[0]!.pid).toBe(seen[1]!.pid)
  })

  it("is passed over among the hosts of a URL", async () => {
    const both = primary.url.replace(/@[^/]+/, `@${new URL(standby.url).host},${new URL(primary.url).host}`)
    const recorder = await Recorder.open({ url: both })
    expect([await recorder.record(), await recorder.ready()]).toEqual([200, 200])
    await recorder.tachograph.close()
  })

  it("that begins to refuse writes makes /ready 503 without traffic, says why, and is used when it takes them again", async () => {
    const recorder = await Recorder.open({ url: primary.url })
    expect([await recorder.record(), await recorder.ready()]).toEqual([200, 200])
    await query(primary.url, "ALTER SYSTEM SET default_transaction_read_only = on")
    await query(primary.url, "SELECT pg_reload_conf()")
    await recorder.until(503, () => recorder.ready())
    expect([await recorder.record(), await recorder.read(), await recorder.ready()]).toEqual([503, 200, 503])
    expect(recorder.lines.some((line) => line.includes("default_transaction_read_only is on"))).toBe(true)
    await query(primary.url, "ALTER SYSTEM RESET default_transaction_read_only")
    await query(primary.url, "SELECT pg_reload_conf()")
    await recorder.until(200)
    expect(await recorder.ready()).toBe(200)
    await recorder.tachograph.close()
  })
})

describe("synchronous replication", () => {
  it("has a 200 wait for the standby, also for an event that an attempt has committed before", async () => {
    const recorder = await Recorder.open({ url: primary.url })
    expect(await recorder.record()).toBe(200)
    const replicateTo = async (name: string) => {
      await query(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
      await query(primary.url, "SELECT pg_reload_conf()")
    }
    const count = async () => {
      const [row] = await query<{ n: number }>(primary.url, "SELECT CAST(count(*) AS integer) AS n FROM events")
      return row!.n
    }
    const before = await count()
    await replicateTo("another")
    const retry = "a key of the replication"
    expect(await recorder.record(retry)).toBe(503)
    // Committed here, and visible, although it is not on the standby, as after a restart of the primary.
    await query(primary.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    await expect.poll(count).toBe(before + 1)
    expect(await recorder.record(retry)).toBe(503)
    await replicateTo("standby")
    await recorder.until(200, () => recorder.record(retry))
    expect(await count()).toBe(before + 1)
    await recorder.tachograph.close()
  })
})

describe("a network that swallows what begins or ends a transaction", () => {
  /** Swallows one of its statements, and what follows. Returns why the transaction failed, when the pool is closed. */
  const swallow = async (statement: "BEGIN" | "COMMIT" | "ROLLBACK") => {
    const forwarder = await startForwarder(primary.url)
    const transaction = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`SELECT 1`
      if (statement === "BEGIN") forwarder.swallow()
      const use = Effect.gen(function* () {
        yield* sql`SELECT 1`
        forwarder.swallow()
        if (statement === "ROLLBACK") yield* Effect.fail(new Error("the reason of the rollback"))
      })
      yield* sql.withTransaction(use)
    })
    const config = { url: forwarder.urlOf(primary.url), maxConnections: 1, operationTimeout: 500 }
    const reason = await rejection(Effect.runPromise(Effect.provide(transaction, PostgresStorage.client(config))))
    forwarder.close()
    return reason
  }

  it("keeps neither its connection nor who closes the pool", async () => {
    const [begin, commit, rollback] = await Promise.all([swallow("BEGIN"), swallow("COMMIT"), swallow("ROLLBACK")])
    expect([begin, commit]).toEqual(Array(2).fill(expect.stringContaining("did not answer within 500 ms")))
    expect(rollback).toContain("the reason of the rollback")
  })
})

describe("a recovery to a point in time", () => {
  it("brings back what was acknowledged until then, by the settings of docs/postgres.md", async () => {
    const recorder = await Recorder.open({ url: primary.url })
    await recorder.record()
    const folder = await copyFiles(primary)
    for (let n = 0; n < 3; n++) await recorder.record()
    const kept = recorder.acknowledged.slice()
    const [row] = await query<{ at: string }>(primary.url, "SELECT CAST(clock_timestamp() AS text) AS at")
    expect(await recorder.record()).toBe(200)
    await recorder.tachograph.close()
    await query(primary.url, "SELECT 1 FROM pg_switch_wal()")

    const settings = documented(["restore_command", "recovery_target_action"], archive)
    writeFileSync(join(folder, "recovery.signal"), "")
    const copy = await startCopy(primary, folder, [...settings, `recovery_target_time=${row!.at}`])
    const isRecovered = async () => {
      const [found] = await query<{ is: boolean }>(copy.url, "SELECT NOT pg_is_in_recovery() AS is")
      return found!.is
    }
    await expect.poll(isRecovered).toBe(true)
    const stored = await query<{ id: string }>(copy.url, "SELECT CAST(event_id AS text) AS id FROM events")
    const ids = stored.map(({ id }) => id)
    expect(kept.filter((id) => !ids.includes(id))).toEqual([])
    expect(ids).not.toContain(recorder.acknowledged.at(-1))
    const restored = await Recorder.open({ url: copy.url })
    expect([await restored.record(), await restored.ready()]).toEqual([200, 200])
    await restored.tachograph.close()
    await copy.remove()
  })
})

describe("a failover", () => {
  it("loses nothing acknowledged, is not ready before the promotion, and records after it", async () => {
    const [name, network] = forwarders
    const hostsOf = (url: string) => url.replace(/@([^/]+)/, `@$1,${new URL(standby.url).host}`)
    const recorders = {
      /** Its name leads to the standby before that is promoted. */
      name: await Recorder.open({ url: name!.urlOf(primary.url) }),
      hosts: await Recorder.open({ url: hostsOf(primary.url), targetSessionAttrs: "read-write" }),
      /** Its network swallows what it sends to the first of the hosts. */
      network: await Recorder.open({ url: hostsOf(network!.urlOf(primary.url)) })
    }
    const all = Object.values(recorders)
    const ending = new AbortController()
    const loads = all.flatMap((recorder) => Array.from({ length: 3 }, () => recorder.load(ending.signal)))
    while (all.some(({ acknowledged }) => acknowledged.length < 5)) await wait(20)

    network!.swallow()
    name!.leadTo(standby.url)
    primary.kill()
    await Promise.all(all.map((recorder) => recorder.until(503, () => recorder.ready())))
    const before = all.map(({ acknowledged }) => acknowledged.length)
    const seen: Array<ReadonlyArray<number>> = []
    for (let round = 0; round < 10; round++) {
      seen.push(await Promise.all([recorders.name.ready(), recorders.hosts.ready()]))
      await wait(100)
    }
    expect(new Set(seen.flat())).toEqual(new Set([503]))
    expect(await recorders.name.read()).toBe(200)
    expect(await recorders.hosts.read()).toBe(503)
    // The log has one line a second: the first may still be of the connections that the primary's end has closed.
    await expect.poll(() => recorders.name.lines.some((line) => line.includes("the database is a standby"))).toBe(true)
    expect(all.map(({ acknowledged }) => acknowledged.length)).toEqual(before)

    const promotedAt = Date.now()
    await query(standby.url, "SELECT pg_promote()")
    const seconds = Object.entries(recorders).map(async ([which, recorder]) => {
      await recorder.until(200)
      return `${which} ${((Date.now() - promotedAt) / 1_000).toFixed(1)} s`
    })
    console.info(`First 200 after the promotion: ${(await Promise.all(seconds)).join(", ")}`)
    await Promise.all(all.map((recorder) => recorder.until(200, () => recorder.ready())))
    ending.abort()
    await Promise.all(loads)

    const acknowledged = all.flatMap((recorder) => recorder.acknowledged)
    const stored = await query<{ id: string }>(standby.url, "SELECT CAST(event_id AS text) AS id FROM events")
    const ids = new Set(stored.map(({ id }) => id))
    expect(acknowledged.length).toBeGreaterThan(before.reduce((sum, count) => sum + count, 0))
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
    await Promise.all(all.map(({ tachograph }) => tachograph.close()))
  })
})
