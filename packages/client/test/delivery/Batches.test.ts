import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { afterFile } from "../../../../scripts/vitest/AfterFile.ts"
import * as HttpTransport from "../../src/delivery/HttpTransport.ts"
import { createRecorder, type Drop, type RecorderOptions } from "../../src/index.ts"
import { apiKey, refuse, type Server, startServer } from "../Server.ts"

/** A request with events: their keys, and how long its body is. */
interface Sent {
  readonly path: string
  readonly keys: ReadonlyArray<string>
  readonly bytes: number
  isReplayed: boolean
}

const keysOf = (path: string, init: RequestInit): ReadonlyArray<string> => {
  if (path === "/events") return [(init.headers as Record<string, string>)["idempotency-key"]!]
  const lines = new TextDecoder().decode(init.body as Uint8Array<ArrayBuffer>).split("\n")
  expect(lines.pop()).toBe("")
  return lines.map((line) => (JSON.parse(line) as { readonly idempotency_key: string }).idempotency_key)
}

/** One connection by default, so that all but the first of the events that are recorded together share a batch. */
const open = async (options: Partial<RecorderOptions> = {}, server?: Server) => {
  server ??= await startServer()
  const drops: Array<Drop> = []
  const sent: Array<Sent> = []
  let start = () => {}
  let started = Promise.resolve()
  const watched: typeof fetch = async (url, init) => {
    await started
    const path = String(url).slice(`${server.url}/api/v1`.length)
    if (path === "/fingerprints") return fetch(url, init)
    const request = { path, keys: keysOf(path, init!), bytes: (init!.body as Uint8Array).length, isReplayed: false }
    sent.push(request)
    const response = await fetch(url, init)
    request.isReplayed = response.headers.has("idempotent-replayed")
    return response
  }
  const recorder = createRecorder({
    url: server.url,
    apiKey,
    concurrency: 1,
    fetch: watched,
    onDrop: (drop) => void drops.push(drop),
    ...options
  } as RecorderOptions)
  /** Nothing is sent before all of them wait, and those that another process has left. */
  const together = async (count: number, more: (n: number) => object = () => ({}), left = 0) => {
    started = new Promise((resolve) => (start = resolve))
    for (let n = 0; n < count; n++)
      recorder.record({ api: "aisdk", inputs: { n }, output: {}, session: "s", ...more(n) })
    await vi.waitFor(() => expect(recorder.counters().waiting).toBe(left + count), { timeout: 60_000 })
    start()
  }
  const sizes = () => sent.map(({ keys }) => keys.length)
  return { drops, recorder, sent, server, sizes, together }
}

const numbers = async (server: Server) =>
  (await server.events()).map(({ properties }) => (properties.inputs as { n: number }).n).sort((a, b) => a - b)

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Answers batches otherwise. */
const onBatch =
  (server: Server, answer: (response: ServerResponse) => boolean) =>
  ({ url }: { readonly url?: string | undefined }, response: ServerResponse) => {
    if (url !== "/api/v1/events/batch") return false
    server.intercept = () => false
    return answer(response)
  }

/** Lets the server record the batch, and hands over what it answers, line by line, instead of writing it. */
const eachLine = (write: (line: string, send: (text: string) => void) => void) => (response: ServerResponse) => {
  const send = response.write.bind(response) as (text: string) => void
  const end = response.end.bind(response) as () => void
  let rest = ""
  const take = (chunk: unknown) => {
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return
    const lines = (rest + Buffer.from(chunk as string).toString()).split("\n")
    rest = lines.pop()!
    for (const line of lines) write(line, send)
  }
  response.write = ((chunk: unknown) => {
    take(chunk)
    return true
  }) as never
  response.end = ((chunk: unknown) => {
    take(chunk)
    return end()
  }) as never
  return false
}

describe("events that wait while the connections are in use", () => {
  it("are sent together, 100 at most, each with a key of its own", async () => {
    const { drops, recorder, sent, server, sizes, together } = await open()
    await together(150)
    expect(await recorder.flush()).toBe(true)
    expect(sent.map(({ path }) => path)).toEqual(["/events", "/events/batch", "/events/batch"])
    expect(sizes()).toEqual([1, 100, 49])
    expect(new Set(sent.flatMap(({ keys }) => keys)).size).toBe(150)
    expect(await numbers(server)).toEqual(upTo(150))
    expect(drops).toEqual([])
    expect(recorder.counters()).toMatchObject({ recorded: 150, sent: 150, retried: 0, waiting: 0, heldBytes: 0 })
  })

  it("are sent alone as long as a connection is free for each", async () => {
    const { recorder, sent, together } = await open({ concurrency: 8 })
    await together(8)
    expect(await recorder.flush()).toBe(true)
    expect(sent.map(({ path }) => path)).toEqual(Array(8).fill("/events"))
  })

  it("share at most 1 MiB, and a longer one is sent alone", async () => {
    const { recorder, sent, server, sizes, together } = await open()
    const lengths = [1, 300_000, 300_000, 300_000, 300_000, 2_000_000, 10, 10]
    await together(lengths.length, (n) => ({ output: { text: "x".repeat(lengths[n]!) } }))
    expect(await recorder.flush()).toBe(true)
    expect(sizes()).toEqual([1, 3, 1, 1, 2])
    expect(sent[1]!.bytes).toBeLessThanOrEqual(1024 * 1024)
    expect(await numbers(server)).toEqual(upTo(8))
  })

  it("are sent alone where they are no lines, and stay byte for byte what they are", async () => {
    const { recorder, sent, server, together } = await open()
    const output = '{\n  "a": 1.0\n}'
    await together(6, (n) => (n % 2 === 1 ? { output } : {}))
    expect(await recorder.flush()).toBe(true)
    expect(sent.map(({ keys, path }) => [path, keys.length])).toEqual([
      ["/events", 1],
      ["/events/batch", 2],
      ...Array(3).fill(["/events", 1])
    ])
    const texts = (await server.events()).map(({ text }) => text)
    expect(texts.filter((text) => text.includes(output))).toHaveLength(3)
  })

  it("are changed by `redact` before, as alone", async () => {
    const { recorder, server, sizes, together } = await open({
      redact: (event) => ({ ...event, person: undefined, session: "redacted" })
    })
    await together(4, () => ({ person: "someone" }))
    expect(await recorder.flush()).toBe(true)
    expect(sizes()).toEqual([1, 3])
    for (const event of await server.events()) expect(event).toMatchObject({ person: null, session: "redacted" })
  })

  it("are sent together of a spool too, also what another process has left, and their files are removed", async () => {
    const folder = join(await mkdtemp(join(tmpdir(), "tachograph-client-")), "spool")
    afterFile(() => rm(folder, { recursive: true, force: true }))
    const before = await open({ spool: folder, fingerprint: { language: "another" } })
    before.server.intercept = refuse(503, "overloaded", { "retry-after": "3600" })
    await before.together(3)
    await before.recorder.spooled()
    const { recorder, server, sent, sizes, together } = await open({ spool: folder })
    await together(3, undefined, 3)
    expect(await recorder.flush()).toBe(true)
    expect(sizes()).toEqual([1, 5])
    expect(new Set(sent.flatMap(({ keys }) => keys)).size).toBe(6)
    expect(await numbers(server)).toEqual([0, 0, 1, 1, 2, 2])
    expect(new Set((await server.events()).map((event) => event.fingerprint_id)).size).toBe(2)
    expect(await readdir(folder)).toEqual([])
  })
})

describe("a batch", () => {
  it("keeps an event that is refused from harming the others, which is judged alone", async () => {
    const { drops, recorder, server, sizes, together } = await open()
    await together(6, (n) => (n === 3 ? { durationMs: -17.5 } : {}))
    expect(await recorder.flush()).toBe(true)
    expect(sizes()).toEqual([1, 5, 1])
    expect(await numbers(server)).toEqual([0, 1, 2, 4, 5])
    expect(drops).toMatchObject([{ reason: "refused", cause: { status: 422 } }])
    expect(String(drops[0]!.cause)).toMatch(/answered 422 body\.duration_ms [a-z_]+$/)
  })

  it.each([
    [503, "overloaded"],
    [429, "too-many-requests"],
    [500, "internal"],
    [404, "fingerprint-not-found"],
    [413, "payload-too-large"],
    [422, "json_invalid"]
  ])("sends an event alone, with its key, that is answered %i %s", async (status, type) => {
    const { drops, recorder, sent, server, sizes, together } = await open()
    server.intercept = onBatch(
      server,
      eachLine((line, send) => {
        const { line: number } = JSON.parse(line) as { readonly line: number }
        send(`${number === 2 ? JSON.stringify({ line: number, status, type }) : line}\n`)
      })
    )
    await together(5)
    expect(await recorder.flush()).toBe(true)
    expect(sizes()).toEqual([1, 4, 1])
    expect(sent[2]).toEqual({ path: "/events", keys: [sent[1]!.keys[1]], bytes: expect.any(Number), isReplayed: true })
    expect(await numbers(server)).toEqual(upTo(5))
    expect(drops).toEqual([])
  })

  it("counts an event that was recorded by the key before", async () => {
    const { drops, recorder, server, sizes, together } = await open()
    server.intercept = onBatch(
      server,
      eachLine((line, send) =>
        send(`${line.replace(/"status":200.*/, '"status":422,"type":"idempotency-key-reused"}')}\n`)
      )
    )
    await together(5)
    expect(await recorder.flush()).toBe(true)
    expect(sizes()).toEqual([1, 4])
    expect(drops).toEqual([])
    expect(recorder.counters()).toMatchObject({ sent: 5, waiting: 0 })
  })

  it("that breaks off is sent again from there on, each event alone with its key, and none is recorded twice", async () => {
    const { drops, recorder, sent, server, sizes, together } = await open()
    server.intercept = onBatch(server, (response) => {
      response.end = (() => response) as never
      return eachLine((line, send) => {
        const { line: number } = JSON.parse(line) as { readonly line: number }
        if (number < 4) send(`${line}\n`)
        if (number === 4) send(line.slice(0, -1))
        if (number < 8) return
        void vi
          .waitFor(() => expect(recorder.counters().sent).toBe(4), { timeout: 60_000 })
          .then(() => response.destroy())
      })(response)
    })
    await together(9)
    expect(await recorder.flush()).toBe(true)
    expect(sizes()).toEqual([1, 8, ...Array(5).fill(1)])
    expect(sent.slice(2).flatMap(({ keys }) => keys)).toEqual(sent[1]!.keys.slice(3))
    expect(sent.slice(2).every(({ isReplayed }) => isReplayed)).toBe(true)
    expect(await numbers(server)).toEqual(upTo(9))
    expect(drops).toEqual([])
    expect(recorder.counters()).toMatchObject({ sent: 9, retried: 5, waiting: 0 })
  })

  it("is answered line by line, each of which counts when it is read", async () => {
    const { recorder, server, together } = await open()
    const held: Array<() => void> = []
    server.intercept = onBatch(server, (response) => {
      const end = response.end.bind(response) as () => void
      const answer = eachLine((line, send) => {
        if (line.startsWith('{"line":1,')) send(`${line}\n`)
        else held.push(() => send(`${line}\n`))
      })(response)
      response.end = (() => void held.push(end)) as never
      return answer
    })
    await together(5)
    await vi.waitFor(() => expect(recorder.counters()).toMatchObject({ sent: 2, waiting: 3 }), { timeout: 60_000 })
    await vi.waitFor(() => expect(held).toHaveLength(4), { timeout: 60_000 })
    for (const go of held) go()
    expect(await recorder.flush()).toBe(true)
    expect(recorder.counters()).toMatchObject({ sent: 5, retried: 0 })
  })

  it("takes no answer twice, nor one to a line that it does not have, nor one without an id", async () => {
    const { recorder, server, sizes, together } = await open()
    server.intercept = onBatch(server, (response) => {
      const lines = [1, 1, 0, 4, 99, -1, 1.5].map((line) => `{"line":${line},"status":200,"event_id":"id"}`)
      response.end([...lines, '{"line":2,"status":200}', "<html>", "null", ""].join("\n"))
      return true
    })
    await together(4)
    expect(await recorder.flush()).toBe(true)
    expect(sizes()).toEqual([1, 3, 1, 1])
    expect(recorder.counters()).toMatchObject({ recorded: 4, sent: 4, waiting: 0 })
    expect(await numbers(server)).toEqual([0, 2, 3])
  })

  it.each([
    [404, "not-found", [1, 1, 1, 1]],
    [405, "method-not-allowed", [1, 1, 1, 1]],
    [413, "payload-too-large", [1, 3]],
    [501, "not-implemented", [1, 3]],
    [403, "waf", [1, 3]],
    [301, "moved", [1, 3]],
    [200, "welcome", [1, 3]],
    [500, "internal", [1, 3]],
    [503, "overloaded", [1, 3]]
  ])(
    "that is answered %i %s as a whole costs no event, and later ones are as long as they may be",
    async (...given) => {
      const [status, type, later] = given
      const { drops, recorder, sent, server, sizes, together } = await open()
      server.intercept = onBatch(server, (response) =>
        refuse(status, type, { "retry-after": "0", location: "/elsewhere" })(undefined as never, response)
      )
      await together(5)
      expect(await recorder.flush()).toBe(true)
      expect(sizes()).toEqual([1, 4, 1, 1, 1, 1])
      expect(sent.slice(2).flatMap(({ keys }) => keys)).toEqual(sent[1]!.keys)
      expect(await numbers(server)).toEqual(upTo(5))
      expect(drops).toEqual([])
      await together(4)
      expect(await recorder.flush()).toBe(true)
      expect(sizes().slice(6)).toEqual(later)
      expect(recorder.counters()).toMatchObject({ sent: 9, waiting: 0, dropped: {} })
    }
  )

  it("is half as long after one that was too long", async () => {
    const { recorder, server, sizes, together } = await open()
    server.intercept = onBatch(server, (response) => refuse(413, "payload-too-large")(undefined as never, response))
    const long = () => ({ inputs: { text: "x".repeat(300 * 1024) } })
    await together(4, long)
    expect(await recorder.flush()).toBe(true)
    expect(sizes()).toEqual([1, 3, 1, 1, 1])
    await together(4, long)
    expect(await recorder.flush()).toBe(true)
    expect(sizes().slice(5)).toEqual([1, 1, 1, 1])
  })

  it("waits as long as it is told to where it is refused for now", async () => {
    const { recorder, server, sizes, together } = await open()
    server.intercept = onBatch(server, (response) =>
      refuse(429, "too-many-requests", { "retry-after": "3600" })(undefined as never, response)
    )
    await together(5)
    expect(await recorder.flush({ timeoutMs: 1_500 })).toBe(false)
    expect(sizes()).toEqual([1, 4])
    expect(recorder.counters()).toMatchObject({ sent: 1, retried: 4, waiting: 4, dropped: {} })
  })

  it("may take longer than one answer may, as long as answers come", async () => {
    const answers: Array<ServerResponse> = []
    const server = createServer((request, response) => {
      request.resume()
      response.flushHeaders()
      answers.push(response)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    afterFile(() => {
      server.closeAllConnections()
      server.close()
    })
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const transport = HttpTransport.make({ url, apiKey, keyName: "apiKey", timeoutMs: 60_000, fetch })
      const stored: Array<number> = []
      let heard = () => {}
      const batch = upTo(4).map((n) => ({ event: new TextEncoder().encode("{}"), idempotencyKey: `key ${n}` }))
      const outcome = transport.sendBatch!(batch, (index) => {
        stored.push(index)
        heard()
      })
      await vi.waitFor(() => expect(answers).toHaveLength(1))
      for (const line of [1, 2, 3]) {
        const isHeard = new Promise<void>((resolve) => (heard = resolve))
        answers[0]!.write(`{"line":${line},"status":200,"event_id":"id"}\n`)
        await isHeard
        vi.advanceTimersByTime(50_000)
      }
      vi.advanceTimersByTime(10_000)
      expect(await outcome).toMatchObject({ type: "retry", cause: { name: "TimeoutError" } })
      expect(stored).toEqual([0, 1, 2])
    } finally {
      vi.useRealTimers()
    }
  })
})
