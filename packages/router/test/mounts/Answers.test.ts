/** Large answers: counted until their clients have taken them, written in pieces, and given up if a client takes nothing. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ApiKeys, CommitLimits, defaultCommitLimits, MemoryStorage, Recorder, Storage } from "@tachograph/core"
import { Effect, Layer, Logger, ManagedRuntime, Redacted, Scope } from "effect"
import { HttpRouter } from "effect/http"
import express from "express"
import fastify from "fastify"
import { createServer, type RequestListener, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { AnswerTimeoutMs, createTachograph, Front, Node, Routes } from "../../src/index.ts"
import * as Web from "../../src/mounts/Web.ts"
import { apiKey, event, fingerprint } from "../Samples.ts"

/** A person as the server returns it. */
interface Person {
  readonly properties: { readonly text: string }
}

/** More than the system buffers of a connection whose client does not read. */
const textBytes = 16_000_000

/** For answers that are not to time out. */
const longTimeoutMs = 600_000

/** `fetch` asks for compressed answers unless it is told otherwise, and these are very compressible. */
const headers = {
  authorization: `Bearer ${apiKey}`,
  "content-type": "application/json",
  "accept-encoding": "identity"
}

interface Setup {
  readonly answerTimeoutMs?: number
  /** One event by default. */
  readonly answerBudgetBytes?: number
}

const runtimeOver = (
  storage: Layer.Layer<Storage>,
  { answerBudgetBytes = textBytes + 1_000, answerTimeoutMs = longTimeoutMs }: Setup = {}
) => {
  const limits = { ...defaultCommitLimits, answerBudgetBytes }
  return ManagedRuntime.make(
    Front.layer.pipe(
      Layer.provideMerge(Layer.mergeAll(Recorder.layer, ApiKeys.layer({ staticKeys: [Redacted.make(apiKey)] }))),
      Layer.provideMerge(
        Layer.mergeAll(
          storage,
          Layer.succeed(CommitLimits, limits),
          Layer.succeed(AnswerTimeoutMs, answerTimeoutMs),
          Logger.layer([])
        )
      )
    )
  )
}

type Runtime = ReturnType<typeof runtimeOver>

const callOver = async (runtime: Runtime) => {
  const handle = await runtime.runPromise(Effect.provideService(Web.make, Scope.Scope, Scope.makeUnsafe()))
  return async (method: string, path: string, body?: object) => {
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    return (await handle(new Request(`http://localhost/api/v1${path}`, init)))!
  }
}

/** One storage with one large event for all tests: they read it, and what some write beside it has names of its own. */
let filled: { readonly storage: Storage["Service"]; readonly path: string }
let filling: Runtime

beforeAll(async () => {
  filling = runtimeOver(MemoryStorage.layer)
  const call = await callOver(filling)
  const { fingerprint_id } = (await (await call("PUT", "/fingerprints", fingerprint)).json()) as {
    readonly fingerprint_id: string
  }
  const properties = { api: "aisdk", inputs: { text: "x".repeat(textBytes) }, output: {} }
  const recorded = await call("POST", "/events", event(fingerprint_id, { properties }))
  const { event_id } = (await recorded.json()) as { readonly event_id: string }
  const storage = await filling.runPromise(Storage)
  filled = { storage, path: `/events/${event_id}` }
})
afterAll(() => filling.dispose())

/** A front over that storage. */
const open = async (setup: Setup = {}) => {
  const { path, storage } = filled
  // A copy: tests watch its methods.
  const runtime = runtimeOver(Layer.succeed(Storage, { ...storage }), setup)
  onTestFinished(() => runtime.dispose())
  const { admission } = await runtime.runPromise(Recorder)
  return { runtime, admission, call: await callOver(runtime), path }
}

type Opened = Awaited<ReturnType<typeof open>>

const listen = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

const nodeHandler = ({ runtime }: Opened) =>
  runtime.runPromise(Effect.provideService(Node.make, Scope.Scope, Scope.makeUnsafe()))

const servers: Readonly<Record<string, (opened: Opened) => Promise<number>>> = {
  "node:http": async (opened) => listen(await nodeHandler(opened)),
  Express: async (opened) => listen(express().use(await nodeHandler(opened))),
  Fastify: async (opened) => {
    const handler = await nodeHandler(opened)
    const app = fastify()
    app.addHook("onRequest", (request, reply, done) => void handler(request.raw, reply.raw, done))
    onTestFinished(() => app.close())
    await app.listen({ host: "127.0.0.1", port: 0 })
    return (app.server.address() as AddressInfo).port
  },
  "Effect's HttpRouter": async ({ runtime }) => {
    const server = createServer()
    const serving = ManagedRuntime.make(
      HttpRouter.serve(Routes.layer, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(NodeHttpServer.layer(() => server, { host: "127.0.0.1", port: 0 })),
        Layer.provide(Layer.succeedContext(await runtime.context()))
      )
    )
    onTestFinished(() => serving.dispose())
    await serving.runPromise(Effect.void)
    return (server.address() as AddressInfo).port
  }
}

/** A connection that reads only when a test says so. */
const client = (port: number) => {
  const socket: Socket = connect(port, "127.0.0.1").on("error", () => {})
  onTestFinished(() => void socket.destroy())
  const state = { head: "", bytes: 0, isClosed: false }
  socket.pause().on("data", (chunk) => {
    if (state.head.length < 1_000) state.head += chunk.toString("latin1")
    state.bytes += chunk.length
  })
  socket.on("close", () => (state.isClosed = true))
  return {
    socket,
    state,
    send: (method: string, target: string) =>
      void socket.write(`${method} ${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiKey}\r\n\r\n`)
  }
}

/** A client that has asked for an answer of the host's own, which has begun, and may ask for others behind it. */
const behindHostsOwn = async (opened: Opened) => {
  const handler = await nodeHandler(opened)
  const errors: Array<unknown> = []
  let own: ServerResponse | undefined
  let waiting: ServerResponse | undefined
  const port = await listen((request, response) => {
    if (request.url === "/own") return void (own = response).write("the host's own")
    waiting = response.on("error", (error) => errors.push(error))
    handler(request, response)
  })
  const { send, socket, state } = client(port)
  socket.resume()
  send("GET", "/own")
  return { errors, own: () => own, send, state, waiting: () => waiting }
}

/** Counts the bytes that are freed from now on, without waiting for V8 to collect garbage. */
const freedBytes = () => {
  const { transfer } = ArrayBuffer.prototype
  let freed = 0
  const spy = vi.spyOn(ArrayBuffer.prototype, "transfer").mockImplementation(function (this: ArrayBuffer, length) {
    freed += this.byteLength
    return transfer.call(this, length)
  })
  onTestFinished(() => spy.mockRestore())
  return () => freed
}

const target = ({ path }: Opened) => `/api/v1${path}`

const isTaken = ({ admission }: Opened) => expect.poll(() => admission.answerBytes).toBe(0)

/** One answer is reserved for: before its event is read, and when its length is known. It may be given up at once. */
const isAdmitted = (seen: ReturnType<typeof watched>) => expect.poll(() => seen.admitted).toBe(2)

/** Counts what is reserved for answers from now on. */
const watched = ({ admission }: Opened) => {
  const seen = { admitted: 0, refused: 0, maxBytes: 0 }
  const permit = admission.permit.bind(admission)
  vi.spyOn(admission, "permit").mockImplementation(() => {
    const own = permit()
    return {
      ...own,
      reserveAnswer: (bytes) => {
        const fits = own.reserveAnswer(bytes)
        seen[fits ? "admitted" : "refused"]++
        seen.maxBytes = Math.max(seen.maxBytes, admission.answerBytes)
        return fits
      }
    }
  })
  return seen
}

describe.each(Object.entries(servers))("A large answer over %s", (_, serve) => {
  it("is written whole, and counts until it is, and is freed then", async () => {
    const opened = await open()
    const port = await serve(opened)
    const freed = freedBytes()
    const { send, socket, state } = client(port)
    send("GET", target(opened))
    await expect.poll(() => opened.admission.answerBytes).toBeGreaterThan(textBytes)
    socket.resume()
    const length = () => Number(/content-length: (\d+)/i.exec(state.head)?.[1])
    await expect.poll(() => state.bytes > length()).toBe(true)
    expect(length()).toBeGreaterThan(textBytes)
    await isTaken(opened)
    // The text as it was unpacked, and the answer.
    expect(freed()).toBeGreaterThanOrEqual(2 * textBytes)
    // The connection is still usable.
    const before = state.bytes
    send("GET", "/health")
    await expect.poll(() => state.bytes).toBeGreaterThan(before)
  })

  it("takes no more memory than the budget, however many clients read nothing", async () => {
    const opened = await open()
    const port = await serve(opened)
    const storage = await opened.runtime.runPromise(Storage)
    const reads = vi.spyOn(storage, "readShared")
    const seen = watched(opened)
    const clients = Array.from({ length: 100 }, () => client(port))
    for (const { send } of clients) send("GET", target(opened))
    await expect.poll(() => seen.admitted + seen.refused).toBeGreaterThanOrEqual(100)
    // The front counts the admitted one again, with its envelope.
    await expect.poll(() => [seen.admitted, seen.refused]).toEqual([2, 99])
    expect(seen.maxBytes).toBeLessThan(textBytes + 1_000)
    expect(reads).toHaveBeenCalledTimes(1)
    for (const { socket } of clients) socket.resume()
    await expect.poll(() => clients.every(({ state }) => state.head !== "")).toBe(true)
    const refusals = clients.filter(({ state }) => state.head.startsWith("HTTP/1.1 503 "))
    expect(refusals).toHaveLength(99)
    for (const { state } of refusals) {
      expect(state.head).toMatch(/retry-after: [123]\r\n/i)
      expect(state.head).toContain('{"type":"overloaded"}')
    }
    await isTaken(opened)
  })

  it("is given up when its client disconnects, and freed", async () => {
    const opened = await open()
    const { send, socket } = client(await serve(opened))
    const freed = freedBytes()
    send("GET", target(opened))
    await expect.poll(() => opened.admission.answerBytes).toBeGreaterThan(textBytes)
    socket.destroy()
    await isTaken(opened)
    expect(freed()).toBeGreaterThanOrEqual(2 * textBytes)
    expect((await opened.call("GET", opened.path)).status).toBe(200)
  })

  it("is given up, and its connection closed, when its client takes nothing for too long", async () => {
    const opened = await open({ answerTimeoutMs: 50 })
    const seen = watched(opened)
    const { send, socket, state } = client(await serve(opened))
    send("GET", target(opened))
    await isAdmitted(seen)
    await isTaken(opened)
    socket.resume()
    await expect.poll(() => state.isClosed).toBe(true)
    expect(state.bytes).toBeLessThan(textBytes)
  })

  it("has only its headers for HEAD, and holds nothing", async () => {
    const opened = await open()
    const { send, socket, state } = client(await serve(opened))
    const freed = freedBytes()
    socket.resume()
    send("HEAD", target(opened))
    send("GET", "/health")
    await expect.poll(() => state.head.endsWith("}")).toBe(true)
    expect(state.head).toMatch(/^HTTP\/1\.1 200 [^]*content-length: 16000\d{3}\r\n[^]*\r\n\r\nHTTP\/1\.1 200 [^]*"ok"/i)
    expect(opened.admission.answerBytes).toBe(0)
    expect(freed()).toBeGreaterThanOrEqual(2 * textBytes)
  })
})

describe("A large answer over node:http", () => {
  it("is written in as many turns of the event loop as it has pieces", async () => {
    const opened = await open()
    const handler = await nodeHandler(opened)
    let turn = 0
    const turns: Array<number> = []
    const port = await listen((request, response) => {
      const write = response.write.bind(response) as (chunk: Uint8Array) => boolean
      response.write = (chunk: Uint8Array) => {
        turns.push(turn)
        expect(chunk.length).toBeLessThanOrEqual(64 * 1024)
        return write(chunk)
      }
      const count = () => {
        turn++
        if (!response.writableEnded) setImmediate(count)
      }
      count()
      handler(request, response)
    })
    const { send, socket, state } = client(port)
    socket.resume()
    send("GET", target(opened))
    await expect.poll(() => state.bytes > textBytes).toBe(true)
    expect(turns.length).toBeGreaterThan(textBytes / 65_536 - 2)
    expect(new Set(turns).size).toBe(turns.length)
    // Also freed by then: what is freed later would be counted in the next test.
    await isTaken(opened)
  })

  it("is whole in what a hook of the host has kept, after it is freed", async () => {
    const opened = await open()
    const handler = await nodeHandler(opened)
    const kept: Array<Uint8Array> = []
    const port = await listen((request, response) => {
      const write = response.write.bind(response) as (chunk: Uint8Array) => boolean
      response.write = (chunk: Uint8Array) => {
        kept.push(chunk)
        return write(chunk)
      }
      handler(request, response)
    })
    const { send, socket } = client(port)
    const freed = freedBytes()
    socket.resume()
    send("GET", target(opened))
    await expect.poll(freed).toBeGreaterThanOrEqual(2 * textBytes)
    expect(kept.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(textBytes - 64 * 1024)
  })

  it("follows another on the same connection", async () => {
    const opened = await open({ answerBudgetBytes: 3 * textBytes })
    const { send, socket, state } = client(await listen(await nodeHandler(opened)))
    send("GET", target(opened))
    send("GET", target(opened))
    await expect.poll(() => opened.admission.answerBytes).toBeGreaterThan(2 * textBytes)
    socket.resume()
    await expect.poll(() => state.bytes).toBeGreaterThan(2 * textBytes)
    await isTaken(opened)
  })

  it("leaves the host's own response on the same connection alone when it is given up", async () => {
    const opened = await open({ answerTimeoutMs: 20 })
    const seen = watched(opened)
    const handler = await nodeHandler(opened)
    let finishOwn = () => {}
    const port = await listen((request, response) => {
      if (request.url !== "/own") return void handler(request, response)
      response.write("the beginning, ")
      finishOwn = () => response.end("and the end of the host's own")
    })
    const { send, socket, state } = client(port)
    socket.resume()
    send("GET", "/own")
    send("GET", target(opened))
    await isAdmitted(seen)
    await isTaken(opened)
    expect(state.isClosed).toBe(false)
    finishOwn()
    // Only when it is the turn of the answer that was given up, the connection is closed.
    await expect.poll(() => state.isClosed).toBe(true)
    expect(state.head).toMatch(/^HTTP\/1\.1 200 [^]*the beginning, [^]*and the end of the host's own/)
    expect(state.bytes).toBeLessThan(textBytes)
  })

  it("is not held by Node while it waits behind another one, and not after it was given up", async () => {
    const opened = await open({ answerTimeoutMs: 20 })
    const seen = watched(opened)
    const handler = await nodeHandler(opened)
    const waiting: Array<ServerResponse> = []
    const port = await listen((request, response) => {
      if (request.url === "/own") return void response.write("the host's own")
      waiting.push(response)
      handler(request, response)
    })
    const { send, socket } = client(port)
    socket.resume()
    send("GET", "/own")
    send("GET", target(opened))
    await isAdmitted(seen)
    await isTaken(opened)
    expect(waiting.map(({ socket, writableLength }) => [socket, writableLength])).toEqual([[null, 0]])
  })

  it("is over where the host ends it while it waits behind another one", async () => {
    const opened = await open()
    const seen = watched(opened)
    const { errors, own, send, state, waiting } = await behindHostsOwn(opened)
    send("GET", target(opened))
    await isAdmitted(seen)
    await expect.poll(() => waiting()!.headersSent).toBe(true)
    waiting()!.end()
    own()!.end()
    await isTaken(opened)
    await expect.poll(() => state.isClosed).toBe(true)
    expect([errors, state.bytes < 1_000]).toEqual([[], true])
  })

  it("of a stream is over where the host ends it while it waits behind another one", async () => {
    const opened = await open()
    const { errors, own, send, state, waiting } = await behindHostsOwn(opened)
    send("GET", "/api/v1/events/stream?session=ended")
    await expect.poll(() => waiting()?.writableLength).toBeGreaterThan(0)
    waiting()!.end()
    const { fingerprint_id } = (await (await opened.call("PUT", "/fingerprints", fingerprint)).json()) as {
      readonly fingerprint_id: string
    }
    await opened.call("POST", "/events", { ...event(fingerprint_id), session: "ended" })
    await expect.poll(() => opened.admission.streams).toBe(0)
    own()!.end()
    send("GET", "/health")
    await expect.poll(() => state.head).toMatch(/the host's own[^]*HTTP\/1\.1 200 [^]*HTTP\/1\.1 200 /)
    expect(errors).toEqual([])
  })

  it("is not begun where the host has answered, or the client has disconnected", async () => {
    const opened = await open()
    const handler = await nodeHandler(opened)
    const port = await listen((request, response) => {
      handler(request, response)
      if (request.headers["x-own"] === undefined) response.socket!.destroy()
      else response.writeHead(202).end("the host's")
    })
    const url = `http://127.0.0.1:${port}${target(opened)}`
    const own = await fetch(url, { headers: { ...headers, "x-own": "1" } })
    expect([own.status, await own.text()]).toEqual([202, "the host's"])
    await isTaken(opened)
    await expect(fetch(url, { headers })).rejects.toThrow()
    await isTaken(opened)
  })

  it("closes the connection where a hook of the host fails midway", async () => {
    const opened = await open()
    const handler = await nodeHandler(opened)
    const port = await listen((request, response) => {
      let pieces = 0
      const write = response.write.bind(response) as (chunk: Uint8Array) => boolean
      response.write = (chunk: Uint8Array) => {
        if (++pieces === 3) throw new Error("planted by the test")
        return write(chunk)
      }
      handler(request, response)
    })
    const answer = await fetch(`http://127.0.0.1:${port}${target(opened)}`, { headers })
    await expect(answer.arrayBuffer()).rejects.toThrow()
    await isTaken(opened)
  })
})

describe("A large answer over fetch", () => {
  const read = async (opened: Opened) => (await opened.call("GET", opened.path)).body!.getReader()

  it("is made when it is read, and counts until it is", async () => {
    const opened = await open()
    const reader = await read(opened)
    let bytes = 0
    for (;;) {
      const counted = opened.admission.answerBytes
      const { done, value } = await reader.read()
      if (done) break
      expect(counted).toBeGreaterThan(textBytes)
      expect(value.length).toBeLessThanOrEqual(64 * 1024)
      bytes += value.length
      // Transferring it to another thread must not affect the rest.
      structuredClone(value, { transfer: [value.buffer] })
    }
    expect([bytes > textBytes, opened.admission.answerBytes]).toEqual([true, 0])
  })

  it("is given up when the host cancels it", async () => {
    const opened = await open()
    const reader = await read(opened)
    await reader.read()
    await reader.cancel()
    expect(opened.admission.answerBytes).toBe(0)
    await (await read(opened)).cancel()
    expect(opened.admission.answerBytes).toBe(0)
  })

  it("is given up with an error when the host reads nothing for too long", async () => {
    const opened = await open({ answerTimeoutMs: 20 })
    const reader = await read(opened)
    await isTaken(opened)
    await expect(reader.read()).rejects.toThrow("The client took nothing of the answer for too long")
  })

  it("holds nothing for HEAD", async () => {
    const opened = await open()
    const answer = await opened.call("HEAD", opened.path)
    expect([answer.body, Number(answer.headers.get("content-length")) > textBytes]).toEqual([null, true])
    expect(opened.admission.answerBytes).toBe(0)
  })

  it("is refused beyond the budget, and not read from the storage", async () => {
    const opened = await open()
    const storage = await opened.runtime.runPromise(Storage)
    const first = await read(opened)
    const reads = vi.spyOn(storage, "readShared")
    const answer = await opened.call("GET", opened.path)
    expect([answer.status, await answer.json()]).toEqual([503, { type: "overloaded" }])
    expect(reads).not.toHaveBeenCalled()
    await first.cancel()
    expect((await opened.call("GET", opened.path)).status).toBe(200)
  })
})

describe("An answer that is no event", () => {
  /** Above the largest answer that is not counted. */
  const properties = { text: "x".repeat(20_000) }

  it("counts as well, and a write is refused before it stores anything", async () => {
    const opened = await open()
    const person = { person_id: "p", properties }
    await (await opened.call("PUT", "/people", person)).text()
    const held = await opened.call("GET", opened.path)
    const answers = await Promise.all([
      opened.call("GET", "/people/p"),
      opened.call("PUT", "/people", { person_id: "q", properties }),
      opened.call("PUT", "/people/p", { properties: { ...properties, more: 1 } })
    ])
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    // Small answers are not counted.
    expect((await opened.call("GET", "/people/q")).status).toBe(404)
    expect((await opened.call("PUT", "/agents", { agent_name: "a" })).status).toBe(200)
    await held.body!.cancel()
    expect(await (await opened.call("GET", "/people/p")).json()).toMatchObject(person)
    expect((await opened.call("PUT", "/people", { person_id: "q", properties })).status).toBe(200)
  })

  it("is written whole where its text is cut into pieces", async () => {
    const opened = await open({ answerBudgetBytes: Number.POSITIVE_INFINITY })
    const text = "é😀x".repeat(60_000)
    const { status } = await opened.call("PUT", "/people", { person_id: "long", properties: { text } })
    expect(status).toBe(200)
    const answer = await fetch(`http://127.0.0.1:${await listen(await nodeHandler(opened))}/api/v1/people/long`, {
      headers
    })
    expect(((await answer.json()) as Person).properties.text).toBe(text)
    const streamed = await opened.call("GET", "/people/long")
    expect(((await streamed.json()) as Person).properties.text).toBe(text)
  })

  it("is not counted where it is the same for every request", async () => {
    const opened = await open()
    await opened.call("GET", opened.path)
    const port = await listen(await nodeHandler(opened))
    const docs = await fetch(`http://127.0.0.1:${port}/docs`)
    expect([docs.status, (await docs.text()).length > 1_000_000]).toEqual([200, true])
    const api = await fetch(`http://127.0.0.1:${port}/openapi.json`)
    expect(((await api.json()) as { readonly openapi: string }).openapi).toMatch(/^3\./)
  })

  it("counts no longer when it is returned in process", async () => {
    const limits = { ...defaultCommitLimits, answerBudgetBytes: 1 }
    const storage = Layer.merge(MemoryStorage.layer, Layer.succeed(CommitLimits, limits))
    const tachograph = await createTachograph({ storage })
    onTestFinished(() => tachograph.close())
    const id = await tachograph.fingerprint(fingerprint)
    const inputs = { text: "x".repeat(100_000) }
    const { event_id } = await tachograph.record(event(id, { properties: { api: "aisdk", inputs, output: {} } }))
    for (let n = 0; n < 3; n++) {
      expect((await tachograph.api.getEvent({ event_id })).properties.inputs).toEqual(inputs)
    }
  })
})
