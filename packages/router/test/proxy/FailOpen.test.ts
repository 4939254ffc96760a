/** Calls go on, whatever becomes of their recording. */
import { CommitLimits, defaultCommitLimits, Errors, MemoryStorage, Storage } from "@tachograph/core"
import { Deferred, Effect, Layer, Logger } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { request as httpRequest } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished, vi } from "vitest"
import { createTachograph } from "../../src/index.ts"
import * as FragileStorage from "../engine/FragileStorage.ts"
import { apiKey } from "../Samples.ts"
import { served } from "../Served.ts"
import { send, withKey } from "./Client.ts"
import { upstream } from "./Upstream.ts"

const path = "/proxy/local/chat/completions"
const request = '{"messages":[]}'

/** A proxy over a storage that appends as the test says, and the lines of its log. */
const proxyOver = async (
  append: (storage: Storage["Service"]) => Storage["Service"]["appendEvents"],
  limits = {},
  options = {},
  headers = {}
) => {
  const { url } = await upstream((response) => void response.writeHead(200, headers).end('{"choices":[]}'))
  const storage = Layer.effect(
    Storage,
    Effect.map(Storage, (memory) => ({ ...memory, appendEvents: append(memory) }))
  ).pipe(Layer.provide(MemoryStorage.layer))
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
  const tachograph = await createTachograph({
    storage: Layer.mergeAll(storage, logger, Layer.succeed(CommitLimits, { ...defaultCommitLimits, ...limits })),
    apiKeys: [apiKey],
    proxy: { upstreams: { local: url }, ...options }
  })
  onTestFinished(() => tachograph.close())
  const { port } = await served(tachograph.node)
  const metrics = async () => (await tachograph.fetch(new Request("http://host/metrics"))).text()
  const outcome = async (name: string) =>
    Number(new RegExp(`calls_total\\{outcome="${name}"\\} (\\d+)`).exec(await metrics())?.[1])
  const waiting = async () => Number(/^tachograph_proxy_waiting_calls (\d+)$/m.exec(await metrics())?.[1])
  return { lines, outcome, port, tachograph, waiting }
}

const sessions = async ({ api }: Awaited<ReturnType<typeof proxyOver>>["tachograph"]) =>
  (await api.listEvents({ order: "asc", limit: 1000 })).events.map(({ session }) => session)

const sendIn = (port: number, session: string) =>
  send(port, path, { headers: { ...withKey, "x-tachograph-session": session }, body: request })

const unavailable = Effect.fail(new Errors.StorageUnavailable({ cause: new Error("away") }))

it("goes on while the storage is away, and records each call once when it is back", async () => {
  let isAway = true
  const { lines, outcome, port, tachograph, waiting } = await proxyOver(
    (storage) => (events) => Effect.suspend(() => (isAway ? unavailable : storage.appendEvents(events)))
  )
  const before = await outcome("recorded")
  const sent = Array.from({ length: 100 }, (_, index) => `session ${index}`)
  for (const session of sent) {
    const { answer, body } = await sendIn(port, session)
    expect([answer.statusCode, String(body)]).toEqual([200, '{"choices":[]}'])
  }
  expect(await waiting()).toBe(100)
  const said = () => lines.filter((line) => line.includes("model calls wait"))
  await vi.waitFor(() => expect(said()).toHaveLength(1), { timeout: 60_000 })
  isAway = false
  await vi.waitFor(async () => expect(await outcome("recorded")).toBe(before + 100), { timeout: 60_000 })
  expect((await sessions(tachograph)).sort()).toEqual(sent.sort())
  expect(await waiting()).toBe(0)
})

it("records a call once whose commit was not heard of", async () => {
  let appends = 0
  const { outcome, port, tachograph } = await proxyOver((storage) => (events) => {
    const lost = ++appends === 1 ? unavailable : Effect.void
    return Effect.tap(storage.appendEvents(events), () => lost)
  })
  const before = await outcome("recorded")
  await sendIn(port, "session")
  await vi.waitFor(async () => expect(await outcome("recorded")).toBe(before + 1), { timeout: 60_000 })
  expect(appends).toBeGreaterThan(1)
  expect(await sessions(tachograph)).toEqual(["session"])
})

it("keeps no more than it may while the storage is away, and says how many calls it leaves", async () => {
  let isAway = true
  const { lines, outcome, port, tachograph, waiting } = await proxyOver(
    (storage) => (events) => Effect.suspend(() => (isAway ? unavailable : storage.appendEvents(events))),
    {},
    { maxHeldBytes: 8_500 }
  )
  const before = await outcome("held-bytes")
  for (let n = 0; n < 6; n++) expect((await sendIn(port, `session ${n}`)).answer.statusCode).toBe(200)
  await vi.waitFor(async () => expect(await outcome("held-bytes")).toBe(before + 2), { timeout: 60_000 })
  expect(await waiting()).toBe(4)
  expect(lines.some((line) => line.includes("not recorded") && line.includes("held-bytes"))).toBe(true)
  isAway = false
  await tachograph.close()
  expect(lines.some((line) => line.includes("closing"))).toBe(false)
})

it.each(["request", "response"])("counts what the headers of a %s take of that", async (side) => {
  let isAway = true
  const long = { "x-long": "x".repeat(10_000) }
  const { outcome, port, waiting } = await proxyOver(
    (storage) => (events) => Effect.suspend(() => (isAway ? unavailable : storage.appendEvents(events))),
    {},
    { maxHeldBytes: 25_000 },
    side === "response" ? long : {}
  )
  const before = await outcome("held-bytes")
  const headers = { ...withKey, ...(side === "request" ? long : {}) }
  for (let n = 0; n < 3; n++) expect((await send(port, path, { headers, body: request })).answer.statusCode).toBe(200)
  await vi.waitFor(async () => expect(await outcome("held-bytes")).toBe(before + 1), { timeout: 60_000 })
  expect(await waiting()).toBe(2)
  isAway = false
})

it("counts what the target of a request takes of that", async () => {
  const { outcome, port } = await proxyOver((storage) => storage.appendEvents, {}, { maxHeldBytes: 10_000 })
  const before = await outcome("held-bytes")
  const sent = await send(port, `${path}?x=${"x".repeat(10_000)}`, { headers: withKey, body: request })
  expect(sent.answer.statusCode).toBe(200)
  await vi.waitFor(async () => expect(await outcome("held-bytes")).toBe(before + 1), { timeout: 60_000 })
})

it("answers before the call is recorded, and waits for it when it is closed", async () => {
  const gate = Deferred.makeUnsafe<void>()
  let isAppended = false
  const { port, tachograph } = await proxyOver(
    (storage) => (events) =>
      Deferred.await(gate).pipe(
        Effect.andThen(storage.appendEvents(events)),
        Effect.tap(() => Effect.sync(() => (isAppended = true)))
      )
  )
  expect((await send(port, path, { headers: withKey, body: request })).answer.statusCode).toBe(200)
  expect(isAppended).toBe(false)
  const closed = tachograph.close()
  Deferred.doneUnsafe(gate, Effect.void)
  await closed
  expect(isAppended).toBe(true)
})

it("records again what a full queue has refused", async () => {
  const gate = Deferred.makeUnsafe<void>()
  /** How often the queue was found full: its bound is asked for only while an event is in it. */
  let refusals = 0
  const queue = {
    ...defaultCommitLimits.queue,
    waitMs: 60_000,
    get events() {
      refusals++
      return 1
    }
  }
  let appends = 0
  const hold = (storage: Storage["Service"]) => (events: Parameters<Storage["Service"]["appendEvents"]>[0]) => {
    appends++
    return Effect.andThen(Deferred.await(gate), storage.appendEvents(events))
  }
  const { lines, port, tachograph } = await proxyOver(hold, { queue })
  await send(port, path, { headers: withKey, body: request })
  await vi.waitFor(() => expect(appends).toBe(1), { timeout: 60_000 })
  await send(port, path, { headers: withKey, body: request })
  await vi.waitFor(() => expect(refusals).toBeGreaterThan(0), { timeout: 60_000 })
  Deferred.doneUnsafe(gate, Effect.void)
  const count = async () => (await tachograph.api.listEvents()).events.length
  await vi.waitFor(async () => expect(await count()).toBe(2), { timeout: 60_000 })
  expect(lines).toEqual([])
})

it("logs the last of a burst of calls that are not recorded, with how many there were", async () => {
  const { lines, outcome, port } = await proxyOver((storage) => storage.appendEvents, {}, { maxHeldBytes: 1 })
  const before = await outcome("held-bytes")
  await Promise.all(Array.from({ length: 5 }, (_, n) => sendIn(port, `session ${n}`)))
  await vi.waitFor(async () => expect(await outcome("held-bytes")).toBe(before + 5), { timeout: 60_000 })
  const said = () => lines.map((line) => (JSON.parse(line) as { annotations: Record<string, unknown> }).annotations)
  const logged = () => said().reduce((sum, { calls_not_logged }) => sum + 1 + Number(calls_not_logged), 0)
  await vi.waitFor(() => expect(logged()).toBe(5), { timeout: 60_000 })
  expect(said().map(({ reason }) => reason)).toEqual(said().map(() => "held-bytes"))
})

it("says which upstream cannot be reached, and why: in one line for a burst, and in the event", async () => {
  const { lines, port, tachograph } = await proxyOver(
    (storage) => storage.appendEvents,
    {},
    { upstreams: { away: "http://127.0.0.1:1/secret-path", lost: "http://name.invalid", plain: "https://127.0.0.1:1" } }
  )
  for (const name of ["away", "away", "lost"])
    expect(
      (await send(port, `/proxy/${name}/chat/completions`, { headers: withKey, body: request })).answer.statusCode
    ).toBe(502)
  const said = () => lines.map((line) => (JSON.parse(line) as { annotations: Record<string, unknown> }).annotations)
  const logged = () => said().reduce((sum, { requests_not_logged }) => sum + 1 + Number(requests_not_logged), 0)
  await vi.waitFor(() => expect(logged()).toBe(3), { timeout: 60_000 })
  expect(lines[0]).toContain("A model provider could not be reached")
  expect(said()[0]).toEqual({ upstream: "away", code: "ECONNREFUSED", requests_not_logged: 0 })
  expect(said().at(-1)).toMatchObject({ upstream: "lost", code: expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN)$/) })
  expect(lines.join("")).not.toContain("secret-path")
  const outputs = await vi.waitFor(
    async () => {
      const { events } = await tachograph.api.listEvents({ order: "asc" })
      expect(events).toHaveLength(3)
      return Promise.all(
        events.map(async ({ event_id }) => (await tachograph.api.getEvent({ event_id })).properties.output)
      )
    },
    { timeout: 60_000 }
  )
  expect(outputs[0]).toEqual({ error: { type: "connection_error", message: "The connection failed: ECONNREFUSED." } })
})

it("says of an upload that the client breaks off that it was aborted", async () => {
  const { lines, outcome, port } = await proxyOver((storage) => storage.appendEvents)
  const before = [await outcome("aborted"), await outcome("undecodable")]
  const sent = httpRequest({ port, path, method: "POST", headers: { ...withKey, "content-length": 1000 } })
  sent.on("error", () => {}).write('{"messages":[', () => sent.destroy())
  await vi.waitFor(async () => expect(await outcome("aborted")).toBe(before[0]! + 1), { timeout: 60_000 })
  expect(await outcome("undecodable")).toBe(before[1])
  expect(lines.some((line) => line.includes("not recorded") && line.includes("aborted"))).toBe(true)
})

it("says so of one over fetch as well, and not that the provider could not be reached", async () => {
  const { lines, outcome, tachograph } = await proxyOver((storage) => storage.appendEvents)
  const before = await outcome("aborted")
  let pulls = 0
  const body = new ReadableStream({
    pull: (controller) => {
      if (pulls++ === 0) controller.enqueue(Buffer.from('{"messages":['))
      else controller.error(new Error("The client is gone"))
    }
  })
  const init = { method: "POST", headers: withKey, body, duplex: "half" as const }
  expect((await tachograph.fetch(new Request(`http://host${path}`, init))).status).toBe(502)
  await vi.waitFor(async () => expect(await outcome("aborted")).toBe(before + 1), { timeout: 60_000 })
  await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 60_000 })
  expect(lines[0]).toContain('"reason":"aborted"')
})

it("drops a call that the engine's thread dies of twice, and records the others", async () => {
  const { url } = await upstream((response) => void response.end('{"choices":[]}'))
  const folder = mkdtempSync(join(tmpdir(), "tachograph-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const tachograph = await createTachograph({
    storage: FragileStorage.open(join(folder, "fragile.db")),
    apiKeys: [apiKey],
    proxy: { upstreams: { local: url } }
  })
  onTestFinished(() => tachograph.close())
  const { port } = await served(tachograph.node)
  const agents = ["one", "two", "exit", "three", "four"]
  const pass = (agent: string) =>
    send(port, path, { headers: { ...withKey, "x-tachograph-agent": agent }, body: request })
  const outcomes = async () => {
    const metrics = await (await tachograph.fetch(new Request("http://host/metrics"))).text()
    return ["recorded", "internal"].map((name) =>
      Number(new RegExp(`calls_total\\{outcome="${name}"\\} (\\d+)`).exec(metrics)?.[1])
    )
  }
  const [recorded, internal] = await outcomes()
  for (const { answer } of await Promise.all(agents.map(pass))) expect(answer.statusCode).toBe(200)
  await vi.waitFor(async () => expect(await outcomes()).toEqual([recorded! + 4, internal! + 1]), {
    timeout: 60_000,
    interval: 200
  })
  const { events } = await tachograph.api.listEvents()
  expect(events.map(({ agent }) => agent).toSorted()).toEqual(["four", "one", "three", "two"])
}, 90_000)

it("says once of each header of its own that it does not know, and of no more than twenty", async () => {
  const { lines, port, tachograph } = await proxyOver((storage) => storage.appendEvents)
  const pass = async (headers: Record<string, string>) =>
    (await send(port, path, { headers: { ...withKey, ...headers }, body: request })).answer.statusCode
  const wrong = {
    "X-Tachograph-Sesion": "a",
    X_Tachograph_Agent: "b",
    "X-Tachograph-Person": "ann",
    "X-Tachograph-Colour": "red"
  }
  for (const headers of [wrong, wrong, { "x-tachograph-agent": "b" }]) expect(await pass(headers)).toBe(200)
  const said = () => lines.map((line) => (JSON.parse(line) as { annotations: Record<string, unknown> }).annotations)
  expect(said()).toEqual([
    { header: "x-tachograph-sesion (did you mean x-tachograph-session?)" },
    { header: "x_tachograph_agent (did you mean x-tachograph-agent?)" },
    { header: "x-tachograph-colour" }
  ])
  expect(lines.join("")).not.toContain("red")
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`x-tachograph-${n}${"x".repeat(100)}`, ""]))
  expect(await pass(many)).toBe(200)
  expect(lines).toHaveLength(20)
  expect(String(said().at(-1)!["header"]).length).toBe(60)
  await vi.waitFor(async () => expect(await sessions(tachograph)).toHaveLength(4), { timeout: 60_000 })
})
