/** Calls go on, whatever becomes of their recording. */
import { CommitLimits, defaultCommitLimits, Errors, MemoryStorage, Storage } from "@tachograph/core"
import { Deferred, Effect, Layer, Logger } from "effect"
import { expect, it, onTestFinished, vi } from "vitest"
import { createTachograph } from "../../src/index.ts"
import { apiKey } from "../Samples.ts"
import { served } from "../Served.ts"
import { send, withKey } from "./Client.ts"
import { upstream } from "./Upstream.ts"

const path = "/proxy/local/chat/completions"
const request = '{"messages":[]}'

/** A proxy over a storage that appends as the test says, and the lines of its log. */
const proxyOver = async (append: (storage: Storage["Service"]) => Storage["Service"]["appendEvents"], limits = {}) => {
  const { url } = await upstream((response) => void response.end('{"choices":[]}'))
  const storage = Layer.effect(
    Storage,
    Effect.map(Storage, (memory) => ({ ...memory, appendEvents: append(memory) }))
  ).pipe(Layer.provide(MemoryStorage.layer))
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
  const tachograph = await createTachograph({
    storage: Layer.mergeAll(storage, logger, Layer.succeed(CommitLimits, { ...defaultCommitLimits, ...limits })),
    apiKeys: [apiKey],
    proxy: { upstreams: { local: url } }
  })
  onTestFinished(() => tachograph.close())
  const { port } = await served(tachograph.node)
  const metrics = async () => (await tachograph.fetch(new Request("http://host/metrics"))).text()
  const outcome = async (name: string) =>
    Number(new RegExp(`calls_total\\{outcome="${name}"\\} (\\d+)`).exec(await metrics())?.[1])
  return { lines, outcome, port, tachograph }
}

it("goes on while the storage is away, and says so in a metric and in the log", async () => {
  const unavailable = Effect.fail(new Errors.StorageUnavailable({ cause: new Error("away") }))
  const { lines, outcome, port } = await proxyOver(() => () => unavailable)
  const before = await outcome("storage-unavailable")
  const { answer, body } = await send(port, path, { headers: withKey, body: request })
  expect([answer.statusCode, String(body)]).toEqual([200, '{"choices":[]}'])
  await vi.waitFor(async () => expect(await outcome("storage-unavailable")).toBe(before + 1), { timeout: 60_000 })
  expect(lines.some((line) => line.includes("not recorded") && line.includes("storage-unavailable"))).toBe(true)
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
  const queue = { ...defaultCommitLimits.queue, events: 1, waitMs: 60_000 }
  let appends = 0
  const hold = (storage: Storage["Service"]) => (events: Parameters<Storage["Service"]["appendEvents"]>[0]) => {
    appends++
    return Effect.andThen(Deferred.await(gate), storage.appendEvents(events))
  }
  const { lines, port, tachograph } = await proxyOver(hold, { queue })
  await send(port, path, { headers: withKey, body: request })
  await vi.waitFor(() => expect(appends).toBe(1), { timeout: 60_000 })
  await send(port, path, { headers: withKey, body: request })
  Deferred.doneUnsafe(gate, Effect.void)
  const count = async () => (await tachograph.recorder.listEvents()).events.length
  await vi.waitFor(async () => expect(await count()).toBe(2), { timeout: 60_000 })
  expect(lines).toEqual([])
})
