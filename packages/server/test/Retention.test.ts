/** A server erases events older than the limit, and nothing else. */
import {
  defaultProject,
  DeriveInBackground,
  type EventId,
  FingerprintId,
  JsonText,
  PieceScanner,
  ReadFacts,
  Recorder,
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

const fingerprintId = FingerprintId.make("11111111-1111-4111-8111-111111111111")

interface Recorded {
  readonly id: EventId
  readonly inputs: string
  readonly output: string
}

/** Records a conversation of `calls` calls, each with the whole history and the same long system prompt. */
const converse = Effect.fnUntraced(function* (
  session: string,
  from: number,
  calls: number,
  /** What each answer ends with. */
  said = ""
) {
  const recorder = yield* Recorder
  const storage = yield* Storage
  const fields = JsonText.unsafe("{}")
  yield* storage.putFingerprint(defaultProject, { id: fingerprintId, fields, createdAt: yield* DateTime.now })
  const system = "You answer questions about lorries. ".repeat(60)
  const messages: Array<object> = []
  const recorded: Array<Recorded> = []
  for (let call = 0; call < calls; call++) {
    yield* TestClock.setTime(from + call)
    messages.push({ role: "user", content: `${session} asks for the ${call}. time how far it is to B` })
    const answer = {
      role: "assistant",
      content: `${session} is told for the ${call}. time that it is ${call} km${said}`
    }
    // With the spaces that Python's json.dumps writes.
    const inputs = JSON.stringify({ model: "m", system, messages }).replaceAll(`","`, `", "`)
    const output = JSON.stringify(answer)
    const { id } = yield* recorder.createEvent({
      api: "aisdk",
      fingerprintId,
      session: SessionId.make(session),
      payload: PieceScanner.ofTexts(inputs, output),
      facts: ReadFacts.read("aisdk", {}, {})
    })
    recorded.push({ id, inputs, output })
    messages.push(answer)
  }
  return recorded
})

/** The payload, or `gone`. */
const read = Effect.fnUntraced(function* ({ id }: Recorded) {
  const recorder = yield* Recorder
  return yield* recorder.getEvent(id).pipe(
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

describe.concurrent("tachograph serve --retain", () => {
  it("erases old events soon after the start, and logs it in one line without names", async ({ expect }) => {
    const cwd = temporaryFolder()
    const recorded = await Effect.gen(function* () {
      const old = yield* converse("planted-session", Date.now() - 2 * 3_600_000, 3)
      const fresh = yield* converse("planted-session", Date.now(), 3)
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
    await Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], (n) => converse(`old ${n}`, from + n, 2, text(n))).pipe(
      Effect.provide(over(file)),
      Effect.runPromise
    )

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
