/** Batches of events: their limits, what is on the way at once, and what the server's options do to each line. */
import {
  CommitLimits,
  type CommitLimitsValue,
  defaultCommitLimits,
  Errors,
  MemoryStorage,
  Storage
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it, onTestFinished } from "vitest"
import { createTachograph } from "../../src/index.ts"
import { apiKey, event } from "../Samples.ts"

type Line = Record<string, any>

type Options = Omit<Parameters<typeof createTachograph<unknown>>[0], "storage" | "apiKeys" | "authorize">

const open = async (options: Options = {}, storage: Layer.Layer<Storage, unknown> = MemoryStorage.layer) => {
  const tachograph = await createTachograph({ ...options, storage, apiKeys: [apiKey] })
  onTestFinished(() => tachograph.close())
  const id = await tachograph.fingerprint({ language: "l", language_version: "1", system: "s" })
  const request = (path: string, init: RequestInit = {}) =>
    tachograph.fetch(
      new Request(`http://host/api/v1/${path}`, { ...init, headers: { authorization: `Bearer ${apiKey}` } })
    )
  const send = (body: string | ReadableStream) =>
    request("events/batch", { method: "POST", body, duplex: "half" } as RequestInit)
  return {
    api: tachograph.api,
    send,
    line: (fields: object = {}) => JSON.stringify({ ...event(id), ...fields }),
    statuses: async (body: string | ReadableStream) => statusesIn(await (await send(body)).text()),
    count: async () => (await tachograph.api.listEvents({ limit: 1_000 })).events.length
  }
}

const linesIn = (text: string) =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)

const statusesIn = (text: string) => linesIn(text).map(({ line, status }) => [line, status])

it("takes a line as long as one event may be, and a batch as long as it may be", async () => {
  const maxBody = 10_000
  const { count, line, statuses } = await open({ maxBody, maxBatch: 3 * maxBody + 2 })
  const sized = (bytes: number) => {
    const filled = (length: number) => line({ metadata: { filled: "x".repeat(length) } })
    return filled(bytes - filled(0).length)
  }
  expect(sized(maxBody)).toHaveLength(maxBody)
  const whole = [sized(maxBody), sized(maxBody), sized(maxBody)].join("\n")
  expect(await statuses(whole)).toEqual([
    [1, 200],
    [2, 200],
    [3, 200]
  ])
  expect(await statuses(`${sized(maxBody + 1)}\n${line()}`)).toEqual([
    [1, 413],
    [2, 200]
  ])
  const keyed = `{"idempotency_key":"${"k".repeat(255)}",${sized(maxBody).slice(1)}`
  expect(await statuses(`${keyed}\n${keyed.replace("{", "{ ")}`)).toEqual([
    [1, 200],
    [2, 413]
  ])
  // Of any length, as far as the batch goes.
  expect(await statuses(`${"x".repeat(2.5 * maxBody)}\n${line()}`)).toEqual([
    [1, 413],
    [2, 200]
  ])
  expect(await count()).toBe(6)
  // What announces its length is refused before it is read.
  const announced = await open({ maxBatch: whole.length - 1 })
  const stream = (text: string) => new Blob([text]).stream()
  expect(
    await announced.statuses(stream(`${announced.line()}\n${"x".repeat(whole.length)}\n${announced.line()}`))
  ).toEqual([
    [1, 200],
    [2, 413]
  ])
  expect(await announced.count()).toBe(1)
})

it("takes as many lines as it may have, empty ones too", async () => {
  const { count, line, statuses } = await open({ maxBatchLines: 4 })
  expect(await statuses([line(), "", line(), line()].join("\n"))).toEqual([
    [1, 200],
    [3, 200],
    [4, 200]
  ])
  expect(await statuses([line(), "", line(), line(), "", line(), line()].join("\n"))).toEqual([
    [1, 200],
    [3, 200],
    [4, 200],
    [6, 413]
  ])
  expect(await count()).toBe(6)
})

it("masks each line as an event that is sent alone", async () => {
  const { api, line, send } = await open({ redact: "sk-[a-z\\d]{8,}" })
  const secret = "sk-abcdefgh1"
  const properties = {
    api: "aisdk",
    inputs: { messages: [{ role: "user", content: secret }] },
    output: { text: secret }
  }
  const sent = { properties, metadata: { secret } }
  const keyed = `{"idempotency_key":"k",${line(sent).slice(1)}`
  const answers = linesIn(await (await send([keyed, line(sent), keyed].join("\n"))).text())
  const alone = await api.createEvent({ body: JSON.parse(line(sent)) })
  expect(answers.map(({ idempotent_replayed, status }) => [status, idempotent_replayed])).toEqual([
    [200, undefined],
    [200, undefined],
    [200, true]
  ])
  const [expected, ...stored] = await Promise.all(
    [alone, ...answers].map(async ({ event_id }) => {
      const { properties, metadata, recorded } = await api.getEvent({ event_id })
      return { properties, metadata, recorded }
    })
  )
  expect(expected!.recorded).toEqual({ redacted: 3 })
  expect(JSON.stringify(expected)).not.toContain(secret)
  expect(stored).toEqual([expected, expected, expected])
})

it("refuses unknown fields of a line where the server is strict, but not its key", async () => {
  const { line, statuses } = await open({ strict: true })
  expect(await statuses(`{"idempotency_key":"k",${line().slice(1)}\n${line({ sesion: 1 })}`)).toEqual([
    [1, 200],
    [2, 422]
  ])
})

it("answers a line while the next one has not been sent", async () => {
  const { line, send } = await open()
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const response = await send(readable)
  const reader = response.body!.getReader()
  for (let n = 1; n <= 3; n++) {
    void writer.write(Buffer.from(`${line()}\n`))
    const { value } = await reader.read()
    expect(statusesIn(Buffer.from(value!).toString())).toEqual([[n, 200]])
  }
  await writer.close()
  expect((await reader.read()).done).toBe(true)
})

it("reads no further than its answers are taken", async () => {
  const { count, line, send } = await open()
  const lines = Buffer.from(`${line()}\n`.repeat(20))
  let pulled = 0
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (++pulled > 400) return controller.close()
      controller.enqueue(lines)
    }
  })
  const response = await send(body)
  const reader = response.body!.getReader()
  await reader.read()
  let before = -1
  await expect.poll(() => before === (before = pulled), { interval: 50 }).toBe(true)
  expect(pulled).toBeLessThan(200)
  expect(await count()).toBeLessThan(1_000)
  await reader.cancel()
})

const limited = async (changes: Partial<CommitLimitsValue>, fields: Partial<Storage["Service"]> = {}) => {
  const storage = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) => ({ ...storage, ...fields }))
  ).pipe(Layer.provide(MemoryStorage.layer))
  return open({}, Layer.merge(storage, Layer.succeed(CommitLimits, { ...defaultCommitLimits, ...changes })))
}

it("holds lines back while the queue is full, and answers them as single events where the storage fails", async () => {
  const gate = Promise.withResolvers<void>()
  const full = await limited(
    { queue: { ...defaultCommitLimits.queue, events: 2, waitMs: 60_000 } },
    {
      appendEvents: () =>
        Effect.andThen(
          Effect.promise(() => gate.promise),
          Effect.fail(new Errors.StorageUnavailable({ cause: 1 }))
        )
    }
  )
  const response = await full.send([full.line(), full.line(), full.line(), "no JSON"].join("\n"))
  const reader = response.body!.getReader()
  const first = reader.read()
  await new Promise((resolve) => setTimeout(resolve, 100))
  gate.resolve()
  let text = ""
  for (let piece = await first; !piece.done; piece = await reader.read()) text += Buffer.from(piece.value).toString()
  expect(linesIn(text).map(({ line, status, type }) => [line, status, type])).toEqual([
    [1, 503, "storage-unavailable"],
    [2, 503, "storage-unavailable"],
    [3, 503, "storage-unavailable"],
    [4, 422, undefined]
  ])
})

it("gives back what long lines have taken, blank ones too", async () => {
  const kib = 1024
  const { line, statuses } = await limited({ bodyBudgetBytes: 700 * kib })
  const long = (text: string) => text + " ".repeat(300 * kib)
  expect(await statuses([long(""), long(""), long(line()), long(""), line()].join("\n"))).toEqual([
    [3, 200],
    [5, 200]
  ])
})
