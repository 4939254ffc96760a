/** Answers that are made while they are taken, over every mount: whole, cut, not read, given up, refused. */
import { AdmissionControl, ApiKeys, defaultCommitLimits, MemoryStorage } from "@tachograph/core"
import { Context, Effect, Layer, Logger, ManagedRuntime, Redacted, Stream } from "effect"
import { get } from "node:http"
import { connect, type Socket } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { AnswerTimeoutMs, Engine, Front } from "../../src/index.ts"
import { Authorizer } from "../../src/front/Authorizer.ts"
import * as Answer from "../../src/response/Answer.ts"
import * as BodyStream from "../../src/response/BodyStream.ts"
import { apiKey } from "../Samples.ts"
import { servers, webHandler } from "./Servers.ts"

const line = `${"x".repeat(999)}\n`

/** What the body of each session is, and what has become of it. */
class Maker {
  madeBytes = 0
  isOver = false

  readonly #lines = (count: number) =>
    Stream.unfold(0, (made) =>
      Effect.sync(() => {
        if (made === count) return undefined
        this.madeBytes += line.length
        return [line, made + 1] as const
      })
    )

  readonly of = (kind: string): Stream.Stream<string, unknown> => {
    const streams: Readonly<Record<string, Stream.Stream<string, unknown>>> = {
      whole: this.#lines(300),
      endless: this.#lines(Number.POSITIVE_INFINITY),
      cut: Stream.concat(this.#lines(300), Stream.fail(new Error("planted by the test"))),
      silent: Stream.concat(Stream.make(line), Stream.never)
    }
    return Stream.ensuring(
      streams[kind]!,
      Effect.sync(() => (this.isOver = true))
    )
  }
}

interface Setup {
  readonly answerTimeoutMs?: number
  readonly streamBudgetBytes?: number
}

/** A front over an engine whose lists of events are such answers, by the name of the session that they ask for. */
const open = async ({
  answerTimeoutMs = 600_000,
  streamBudgetBytes = defaultCommitLimits.streamBudgetBytes
}: Setup = {}) => {
  const maker = new Maker()
  const admission = new AdmissionControl({ ...defaultCommitLimits, streamBudgetBytes }, () => Infinity)
  const engine = Layer.succeed(Engine, {
    admission,
    handle: ({ query }) =>
      Effect.sync(() => {
        const kind = new URLSearchParams(query).get("session")!
        const body = BodyStream.ofStream(maker.of(kind), Context.empty(), () => {})
        return Answer.streamed(body, "application/x-ndjson")
      })
  })
  const keys = ApiKeys.layer({ staticKeys: [Redacted.make(apiKey)] }).pipe(Layer.provide(MemoryStorage.layer))
  const runtime = ManagedRuntime.make(
    Front.layerNoDeps.pipe(
      Layer.provideMerge(Layer.merge(engine, Authorizer.layer.pipe(Layer.provide(keys)))),
      Layer.provide([Layer.succeed(AnswerTimeoutMs, answerTimeoutMs), Logger.layer([])])
    )
  )
  onTestFinished(() => runtime.dispose())
  const front = await runtime.runPromise(Front)
  return { runtime, admission, maker, front }
}

type Opened = Awaited<ReturnType<typeof open>>

/** The whole body over HTTP/1.1; fails where the connection ends before it does. */
const read = (port: number, kind: string): Promise<{ readonly headers: object; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: `/api/v1/events?session=${kind}`, agent: false }
    get({ ...options, headers: { authorization: `Bearer ${apiKey}` } }, (response) => {
      let text = ""
      response.on("data", (chunk) => (text += String(chunk)))
      response.on("error", reject)
      response.on("end", () => resolve({ headers: response.headers, text }))
    }).on("error", reject)
  })

/** A connection that reads only when a test says so. */
const client = (port: number, kind: string) => {
  const socket: Socket = connect(port, "127.0.0.1").on("error", () => {})
  onTestFinished(() => void socket.destroy())
  const state = { text: "", isClosed: false }
  socket.pause().on("data", (chunk) => (state.text += chunk.toString("latin1")))
  socket.on("close", () => (state.isClosed = true))
  socket.write(`GET /api/v1/events?session=${kind} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiKey}\r\n\r\n`)
  return { socket, state }
}

/** Nothing of the answer is held or made any more. */
const isOver = ({ admission, maker }: Opened) => expect.poll(() => [maker.isOver, admission.streams]).toEqual([true, 0])

/** Resolves when nothing more is made. */
const isStill = async ({ maker }: Opened) => {
  let before = -1
  await expect
    .poll(
      () => {
        const isSame = before === maker.madeBytes
        before = maker.madeBytes
        return isSame && before > 0
      },
      { interval: 100, timeout: 20_000 }
    )
    .toBe(true)
}

describe.each(Object.entries(servers))("An answer that is made while it is taken, over %s", (_, serveOver) => {
  it("arrives whole, without a length, and counts until it has", async () => {
    const opened = await open()
    const { headers, text } = await read(await serveOver(opened.runtime), "whole")
    expect(text).toBe(line.repeat(300))
    expect(headers).toMatchObject({ "content-type": "application/x-ndjson", "transfer-encoding": "chunked" })
    expect(headers).not.toHaveProperty("content-length")
    await isOver(opened)
  })

  it("fails its client where it is cut", async () => {
    const opened = await open()
    await expect(read(await serveOver(opened.runtime), "cut")).rejects.toThrow()
    await isOver(opened)
  })

  it("is not made further than its client reads, and is given up when the client goes", async () => {
    const opened = await open()
    const { socket, state } = client(await serveOver(opened.runtime), "endless")
    await isStill(opened)
    expect([opened.admission.streams, opened.maker.isOver]).toEqual([1, false])
    socket.resume()
    const before = opened.maker.madeBytes
    await expect.poll(() => state.text.length).toBeGreaterThan(2 * before)
    socket.destroy()
    await isOver(opened)
  })

  it("closes the connection of a client that does not read", async () => {
    const opened = await open({ answerTimeoutMs: 20 })
    const { socket, state } = client(await serveOver(opened.runtime), "endless")
    await isOver(opened)
    socket.resume()
    await expect.poll(() => state.isClosed).toBe(true)
    expect(state.text).not.toMatch(/\r\n0\r\n\r\n$/)
  })

  it("waits for what makes it longer than for its client", async () => {
    const opened = await open({ answerTimeoutMs: 20 })
    const { socket, state } = client(await serveOver(opened.runtime), "silent")
    socket.resume()
    await expect.poll(() => state.text).toContain(line)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([state.isClosed, opened.maker.isOver, opened.admission.streams]).toEqual([false, false, 1])
    socket.destroy()
    await isOver(opened)
  })

  it("is cut when the server ends", async () => {
    const opened = await open()
    const { socket, state } = client(await serveOver(opened.runtime), "silent")
    socket.resume()
    await expect.poll(() => state.text).toContain(line)
    opened.front.endStreams()
    await isOver(opened)
    await expect.poll(() => state.isClosed).toBe(true)
    expect(state.text).not.toMatch(/\r\n0\r\n\r\n$/)
  })

  it("is refused where there are too many", async () => {
    const opened = await open({ streamBudgetBytes: 300 * 1024 })
    const port = await serveOver(opened.runtime)
    const { socket, state } = client(port, "silent")
    socket.resume()
    await expect.poll(() => state.text).toContain(line)
    expect((await read(port, "silent")).text).toBe('{"type":"overloaded"}')
    expect(opened.admission.streams).toBe(1)
  })
})

describe("An answer that is made while it is taken, over fetch", () => {
  const call = async (opened: Opened, kind: string, init: RequestInit = {}) => {
    const handle = await webHandler(opened.runtime)
    const headers = { authorization: `Bearer ${apiKey}` }
    return (await handle(new Request(`http://localhost/api/v1/events?session=${kind}`, { headers, ...init })))!
  }

  it("is made as it is read", async () => {
    const opened = await open()
    const reader = (await call(opened, "endless")).body!.getReader()
    expect(opened.maker.madeBytes).toBe(0)
    for (let n = 1; n < 5; n++) {
      const { value } = await reader.read()
      // Transferring it to another thread must not affect the rest.
      structuredClone(value, { transfer: [value!.buffer] })
      expect(opened.maker.madeBytes).toBe(n * line.length)
    }
    await reader.cancel()
    await isOver(opened)
  })

  it("is given up when the request is aborted", async () => {
    const opened = await open()
    const abort = new AbortController()
    const reader = (await call(opened, "silent", { signal: abort.signal })).body!.getReader()
    await reader.read()
    abort.abort()
    await expect(reader.read()).rejects.toThrow()
    await isOver(opened)
  })

  it("fails its reader where it is cut, or read too late", async () => {
    await expect((await call(await open(), "cut")).text()).rejects.toThrow()
    const opened = await open({ answerTimeoutMs: 20 })
    const reader = (await call(opened, "endless")).body!.getReader()
    await reader.read()
    await isOver(opened)
    await expect(reader.read()).rejects.toThrow("The client took nothing of the answer for too long")
  })

  it("is given up when its host does not begin to read it", async () => {
    const opened = await open({ answerTimeoutMs: 20 })
    const { body } = await call(opened, "endless")
    await expect.poll(() => opened.admission.streams).toBe(0)
    await expect(body!.getReader().read()).rejects.toThrow("The client took nothing of the answer for too long")
  })

  it("is not begun for HEAD", async () => {
    const opened = await open()
    const answer = await call(opened, "endless", { method: "HEAD" })
    expect([answer.body, answer.headers.get("content-type")]).toEqual([null, "application/x-ndjson"])
    expect([opened.maker.madeBytes, opened.admission.streams]).toEqual([0, 0])
  })
})
