/** Retention over SQLite erases events older than the limit, and nothing else. */
import {
  CurrentProject,
  defaultProject,
  DeriveInBackground,
  type EventId,
  FingerprintId,
  JsonText,
  PieceScanner,
  ReadFacts,
  ProjectId,
  Recorder,
  Retention,
  SessionId,
  Storage
} from "@tachograph/core"
import { sqlite } from "@tachograph/storage-sqlite"
import { DateTime, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { hash } from "node:crypto"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import * as SmallDisk from "./SmallDisk.ts"
import { serve, temporaryFolder } from "./TachographProcess.ts"

const now = Date.parse("2026-06-01T00:00:00Z")
const day = 86_400_000
const fingerprintId = FingerprintId.make("11111111-1111-4111-8111-111111111111")

interface Recorded {
  readonly id: EventId
  readonly project: ProjectId
  readonly inputs: string
  readonly output: string
}

/** Records a conversation of `calls` calls, each with the whole history and the same long system prompt. */
const converse = Effect.fnUntraced(function* (
  session: string,
  {
    between,
    calls,
    from,
    project = defaultProject,
    said = ""
  }: {
    readonly from: number
    readonly between: number
    readonly calls: number
    readonly project?: ProjectId
    /** What each answer ends with. */
    readonly said?: string
  }
) {
  const recorder = yield* Recorder
  const storage = yield* Storage
  const fields = JsonText.unsafe("{}")
  yield* storage.putFingerprint(project, { id: fingerprintId, fields, createdAt: yield* DateTime.now })
  const system = "You answer questions about lorries. ".repeat(60)
  const messages: Array<object> = []
  const recorded: Array<Recorded> = []
  for (let call = 0; call < calls; call++) {
    yield* TestClock.setTime(from + call * between)
    messages.push({ role: "user", content: `${session} asks for the ${call}. time how far it is to B` })
    const answer = {
      role: "assistant",
      content: `${session} is told for the ${call}. time that it is ${call} km${said}`
    }
    // With the spaces that Python's json.dumps writes.
    const inputs = JSON.stringify({ model: "m", system, messages }).replaceAll(`","`, `", "`)
    const output = JSON.stringify(answer)
    const { id } = yield* Effect.provideService(
      recorder.createEvent({
        api: "aisdk",
        fingerprintId,
        session: SessionId.make(session),
        payload: PieceScanner.ofTexts(inputs, output),
        facts: ReadFacts.read("aisdk", {}, {})
      }),
      CurrentProject,
      project
    )
    recorded.push({ id, project, inputs, output })
    messages.push(answer)
  }
  return recorded
})

/** The payload, or `gone`. */
const read = Effect.fnUntraced(function* ({ id, project }: Recorded) {
  const recorder = yield* Recorder
  return yield* Effect.provideService(recorder.getEvent(id), CurrentProject, project).pipe(
    Effect.map(({ payload }) => [Buffer.from(payload.inputs).toString(), Buffer.from(payload.output).toString()]),
    Effect.catchTag("event-not-found", () => Effect.succeed("gone"))
  )
})

const isGone = (event: Recorded) => Effect.map(read(event), (payload) => expect(payload).toBe("gone"))
const isKept = (event: Recorded) =>
  Effect.map(read(event), (payload) => expect(payload).toEqual([event.inputs, event.output]))

const quiet = Logger.layer([])

/** Without a deriver: it would look every two seconds of the years that pass. Events are given their times when they are written. */
const over = (file: string) =>
  Recorder.layer.pipe(
    Layer.provideMerge(sqlite(file)),
    Layer.provide(Layer.succeed(DeriveInBackground, false)),
    Layer.provideMerge(Layer.merge(TestClock.layer(), quiet))
  )

const temporaryFile = () => join(temporaryFolder(), "test.db")

describe.concurrent("Retention over SQLite", () => {
  it("erases old events of all projects, and returns the others byte for byte", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const other = ProjectId.make("other")
      const old = [
        ...(yield* converse("old", { from: now - 91 * day, between: 1000, calls: 5 })),
        ...(yield* converse("old", { from: now - 91 * day, between: 1000, calls: 5, project: other }))
      ]
      // The first half is old. The other half refers to messages stored with the first.
      const across = yield* converse("across", { from: now - 90.5 * day, between: 0.1 * day, calls: 10 })
      const fresh = yield* converse("fresh", { from: now - day, between: 1000, calls: 5 })
      yield* TestClock.setTime(now)
      const before = yield* storage.usage(defaultProject, 10)

      yield* Layer.build(Retention.layer({ keep: "90 days" }))
      yield* TestClock.adjust("5 minutes")
      yield* Effect.forEach([...old, ...across.slice(0, 5)], isGone)
      // The first pass runs 10 s after `now`: call 5 may have expired too.
      yield* Effect.forEach([...across.slice(6), ...fresh], isKept)
      for (const project of yield* storage.listProjects) {
        expect(yield* storage.listPendingSweep(project, 10)).toEqual([])
      }
      expect(yield* storage.getSession(defaultProject, SessionId.make("old"))).toBeUndefined()
      expect((yield* storage.usage(other, 10)).storedBytes).toBe(0)
      const after = yield* storage.usage(defaultProject, 10)
      expect(after.events).toBe(9)
      expect(after.storedBytes).toBeLessThan(before.storedBytes)
      // The sessions can be continued.
      const more = yield* converse("across", { from: now + 600_000, between: 1, calls: 3 })
      yield* Effect.forEach([...across.slice(6), ...fresh, ...more], isKept)
    }).pipe(Effect.scoped, Effect.provide(over(temporaryFile())), Effect.runPromise))

  it("runs in one process at a time", () => {
    const file = temporaryFile()
    const calls: Array<string> = []
    /** A second storage over the same file, as in another process, that records its calls under `name`. */
    const process = (name: string) =>
      Layer.effect(
        Storage,
        Effect.map(Storage, (storage) => {
          const record = Effect.sync(() => void calls.push(name))
          return Storage.of({
            ...storage,
            listProjects: Effect.andThen(record, storage.listProjects),
            eraseEvents: (...args) => Effect.andThen(record, storage.eraseEvents(...args)),
            sweepPacks: (...args) => Effect.andThen(record, storage.sweepPacks(...args))
          })
        })
      ).pipe(Layer.provide(sqlite(file)))
    return Effect.gen(function* () {
      const first = yield* converse("s", { from: now - 2 * day, between: 1, calls: 30 })
      yield* TestClock.setTime(now)
      const names = ["a", "b", "c"]
      for (const name of names) {
        yield* Layer.build(Retention.layer({ keep: "1 hour" }).pipe(Layer.provide(process(name))))
      }
      yield* TestClock.adjust("30 seconds")
      expect(new Set(calls).size).toBe(1)
      yield* Effect.forEach(first, isGone)
      // The processes that found the lease taken have retried later and got it.
      yield* TestClock.adjust("10 minutes")
      expect(new Set(calls)).toEqual(new Set(names))
      const second = yield* converse("s", { from: now + 1_200_000, between: 1, calls: 3 })
      yield* TestClock.adjust("80 minutes")
      yield* Effect.forEach(second, isGone)
    }).pipe(Effect.scoped, Effect.provide(over(file)), Effect.runPromise)
  })

  it("completes an erasure that was interrupted at any step", async () => {
    for (let step = 1; step <= 6; step++) {
      const file = temporaryFile()
      let remaining = step
      /** Dies after `step` calls, as if the process were killed. */
      const failing = Layer.effect(
        Storage,
        Effect.map(Storage, (storage) => {
          const unless = <A, E>(effect: Effect.Effect<A, E>) =>
            Effect.suspend(() => (remaining-- > 0 ? effect : Effect.die("killed")))
          return Storage.of({
            ...storage,
            eraseEvents: (...args) => unless(storage.eraseEvents(...args)),
            sweepPacks: (...args) => unless(storage.sweepPacks(...args))
          })
        })
      ).pipe(Layer.provide(sqlite(file)))
      await Effect.gen(function* () {
        const storage = yield* Storage
        const old = yield* converse("across", { from: now - 2 * day, between: 1, calls: 4 })
        const gone = yield* converse("old", { from: now - 2 * day, between: 1, calls: 4 })
        const fresh = yield* converse("across", { from: now, between: 1, calls: 4 })
        yield* Layer.build(Retention.layer({ keep: "1 hour" }).pipe(Layer.provide(failing)))
        yield* TestClock.adjust("15 seconds")
        yield* Layer.build(Retention.layer({ keep: "1 hour" }))
        yield* TestClock.adjust("10 minutes")
        yield* Effect.forEach([...old, ...gone], isGone)
        yield* Effect.forEach(fresh, isKept)
        expect(yield* storage.listPendingSweep(defaultProject, 10)).toEqual([])
        expect(yield* storage.getSession(defaultProject, SessionId.make("old"))).toBeUndefined()
      }).pipe(Effect.scoped, Effect.provide(over(file)), Effect.runPromise)
    }
  })
})

describe.concurrent("tachograph serve --retain", () => {
  it("erases old events soon after the start, and logs it in one line without names", async ({ expect }) => {
    const cwd = temporaryFolder()
    const recorded = await Effect.gen(function* () {
      const old = yield* converse("planted-session", { from: Date.now() - 2 * 3_600_000, between: 1, calls: 3 })
      const fresh = yield* converse("planted-session", { from: Date.now(), between: 1, calls: 3 })
      return { old, fresh }
    }).pipe(Effect.provide(over(join(cwd, "tachograph.db"))), Effect.runPromise)

    const key = "an API key for tests"
    const server = await serve(["--port", "0", "--retain", "1h"], { cwd, env: { TACHOGRAPH_API_KEY: key } })
    const me = await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } })
    expect(await me.json()).toMatchObject({ scopes: ["admin"], retention_ms: 3_600_000 })
    await expect.poll(() => server.output().stderr).toContain("older")
    const { code, stderr } = await server.stop()
    expect(code).toBe(0)
    const lines = stderr.trimEnd().split("\n")
    expect(lines, stderr).toHaveLength(1)
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: "INFO", annotations: { events: 3, sessions: 0 } })
    expect(stderr).not.toContain("planted")
    await Effect.gen(function* () {
      yield* Effect.forEach(recorded.old, isGone)
      yield* Effect.forEach(recorded.fresh, isKept)
    }).pipe(Effect.provide(over(join(cwd, "tachograph.db"))), Effect.runPromise)
  })

  it("makes room on a full disk, so that recording goes on by itself", async ({ expect }) => {
    const cwd = SmallDisk.mount()
    const file = join(cwd, "tachograph.db")
    const from = Date.now() - 2 * 3_600_000
    /** A text that cannot be compressed. */
    const text = (n: number) =>
      Array.from({ length: 1_500 }, (_, at) => hash("sha256", `${n} ${at}`, "base64")).join("")
    await Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], (n) =>
      converse(`old ${n}`, { from: from + n, between: 1, calls: 2, said: text(n) })
    ).pipe(Effect.provide(over(file)), Effect.runPromise)

    const key = "an API key for tests"
    const server = await serve(["--port", "0", "--retain", "1h"], { cwd, env: { TACHOGRAPH_API_KEY: key } })
    // A pause of the test is longer than the server keeps a connection.
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" }
    const send = (method: string, path: string, body?: object) =>
      fetch(`${server.url}/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const runtime = { language: "typescript", language_version: "7", system: "linux" }
    const { fingerprint_id } = (await (await send("PUT", "api/v1/fingerprints", runtime)).json()) as {
      fingerprint_id: string
    }
    const record = async (n: number) => {
      const properties = { api: "openai-responses", inputs: { input: text(n) }, output: {} }
      const event = { event_name: "llm", properties, fingerprint_id, session: "new" }
      return (await send("POST", "api/v1/events", event)).status
    }
    // The reserve is made a second after the start, and the retention runs nine seconds later.
    await vi.waitFor(() => expect(existsSync(`${file}-reserve`)).toBe(true), { timeout: 60_000, interval: 20 })
    SmallDisk.fill(cwd)
    let recorded = 0
    while ((await record(recorded)) === 200) recorded++
    await vi.waitFor(() => expect(server.output().stderr).toContain("Erased events older"), {
      timeout: 60_000,
      interval: 100
    })
    for (let n = 100; n < 115; n++) expect(await record(n)).toBe(200)
    expect((await send("GET", "ready")).status).toBe(200)
    const { events } = (await (await send("GET", "api/v1/events?limit=100")).json()) as { events: Array<object> }
    expect(events).toHaveLength(recorded + 15)
    expect((await server.stop()).code).toBe(0)
  })
})
