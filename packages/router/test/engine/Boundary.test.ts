/** What crosses to the thread of the engine, and where there is none. */
import { defaultProject, moduleOf } from "@tachograph/core"
import { sqlite } from "@tachograph/storage-sqlite"
import { Effect, Exit, Layer, ManagedRuntime, Option, Tracer } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { HttpClient } from "@tachograph/testkit"
import { bundle } from "../../../../scripts/vitest/Program.ts"
import { createTachograph, Engine, ThreadEngine } from "../../src/index.ts"
import * as OverheardStorage from "./OverheardStorage.ts"

const temporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-boundary-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

it("sends no credentials to the thread", async () => {
  const folder = temporaryFolder()
  const overheard = join(folder, "overheard")
  const key = "a static key for tests"
  const issued = `tg_${"0".repeat(27)}3mslHL`
  const tachograph = await createTachograph({
    storage: OverheardStorage.open(join(folder, "boundary.db"), overheard),
    apiKeys: [key]
  })
  onTestFinished(() => tachograph.close())
  const statusWith = async (authorization: string) => {
    const headers = {
      authorization,
      cookie: "a=cookie",
      "proxy-authorization": "a proxy's",
      "x-other": "another header"
    }
    const { status } = await tachograph.fetch(new Request("http://host/api/v1/agents/nobody", { headers }))
    return status
  }
  expect(await statusWith(`Bearer ${key}`)).toBe(404)
  expect(await statusWith(`Basic ${btoa(`:${key}`)}`)).toBe(401)
  expect(await statusWith(`Bearer ${issued}`)).toBe(401)
  const text = readFileSync(overheard, "utf8")
  expect(text).toContain("another header")
  expect(text).toContain("findApiKey")
  for (const secret of [key, btoa(`:${key}`), issued, "a=cookie", "a proxy's"]) expect(text).not.toContain(secret)
})

it("tells the thread that reads what was erased, once", async () => {
  const folder = temporaryFolder()
  const overheard = join(folder, "overheard")
  const key = "a static key for tests"
  const storage = OverheardStorage.open(join(folder, "boundary.db"), overheard)
  const tachograph = await createTachograph({ storage, apiKeys: [key] })
  onTestFinished(() => tachograph.close())
  const client = HttpClient.make(tachograph.fetch, key)
  const fingerprint_id = await tachograph.fingerprint({ language: "ts", language_version: "7", system: "linux" })
  for (const session of ["one", "two"]) {
    const properties = { api: "openai-responses", inputs: { session }, output: {} } as const
    await tachograph.record({ event_name: "llm", properties, fingerprint_id, session })
  }
  const list = async () => (await client.get("/api/v1/events")).body.events.length
  const told = () => readFileSync(overheard, "utf8").split('"name":"announceStale"').length - 1
  expect([await list(), told()]).toEqual([2, 0])
  await client.call("DELETE", "/api/v1/sessions/one")
  // The answers to what is asked later come later.
  expect([await list(), told()]).toEqual([1, 1])
  expect((await client.get("/api/v1/agents/nobody")).status).toBe(404)
  await client.call("DELETE", "/api/v1/sessions/two")
  expect([await list(), told()]).toEqual([0, 2])
})

it("runs without the thread in a bundle that does not contain it, and says so once", async () => {
  const folder = temporaryFolder()
  const program = await bundle("router-RecordOnce", new URL("RecordOnce.ts", import.meta.url))
  const files = [join(folder, "one.db"), join(folder, "two.db")]
  const lines = (await program.run(...files)).trim().split("\n")
  expect(lines.filter((line) => line.includes("The engine runs on the thread of the host")).length).toBe(1)
  const ids = lines.filter((line) => /^[0-9a-f-]{36}$/.test(line))
  expect(ids.length).toBe(2)
  const tachograph = await createTachograph({ storage: sqlite(files[1]!), thread: false })
  expect((await tachograph.api.getEvent({ event_id: ids[1]! })).session).toBe("once")
  await tachograph.close()
})

it("shows the spans of the thread in the host's tracer", async () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const storage = moduleOf(sqlite(join(temporaryFolder(), "spans.db")))!
  const runtime = ManagedRuntime.make(
    ThreadEngine.layer(storage).pipe(Layer.provideMerge(Layer.succeed(Tracer.Tracer, tracer)))
  )
  onTestFinished(() => runtime.dispose())
  const exchange = {
    requestId: "a request",
    endpoint: "getAgent",
    params: { agent_name: "nobody" },
    query: "",
    headers: {},
    project: defaultProject,
    scopes: [],
    actor: "nobody",
    body: new Uint8Array(),
    isBodyOwned: true,
    maxEventBytes: 0,
    maxOtherBytes: 0,
    maxBatchBytes: 0,
    maxBatchLines: 0,
    isStrict: false,
    arrivedAtMs: performance.now()
  }
  const answer = Effect.flatMap(Engine, ({ handle }) => handle(exchange))
  expect((await runtime.runPromise(Effect.withSpan(answer, "request"))).status).toBe(404)
  const named = (name: string) => spans.findLast((span) => span.name === name)!
  const [request, read, statement] = [named("request"), named("Recorder.getAgent"), named("sqlite")]
  expect(Option.getOrThrow(read.parent).spanId).toBe(request.spanId)
  expect(read.traceId).toBe(request.traceId)
  expect(Option.getOrThrow(statement.parent).traceId).toBe(request.traceId)
  expect(statement.attributes.get("db.system.name")).toBe("sqlite")
  const { status } = read
  expect(status._tag === "Ended" && Exit.isFailure(status.exit)).toBe(true)
})
