/** A client that leaves before its answer: its read ends at once and gives back what it held, what it records is recorded. */
import { ApiKeys, MemoryStorage, Recorder, Storage } from "@tachograph/core"
import { Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import { connect } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { Engine, Front } from "../../src/index.ts"
import * as LocalEngine from "../../src/engine/LocalEngine.ts"
import { Authorizer } from "../../src/front/Authorizer.ts"
import { apiKey, event } from "../Samples.ts"
import { servers } from "./Servers.ts"

const headers = { authorization: `Bearer ${apiKey}` }

/** Over a storage whose agents are read, and whose events are written, only when `release` is called. */
const open = async () => {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const seen = { reading: 0, writing: 0, written: 0 }
  const held = <A, E>(work: Effect.Effect<A, E>, name: "reading" | "writing") =>
    Effect.suspend(() => {
      seen[name]++
      return Effect.ensuring(
        Effect.andThen(
          Effect.promise(() => released),
          work
        ),
        Effect.sync(() => seen[name]--)
      )
    })
  const storage = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) =>
      Storage.of({
        ...storage,
        hasFingerprint: () => Effect.succeed(true),
        getAgent: (...args) => held(storage.getAgent(...args), "reading"),
        appendEvents: (...args) =>
          held(
            Effect.tap(storage.appendEvents(...args), () => Effect.sync(() => seen.written++)),
            "writing"
          )
      })
    )
  ).pipe(Layer.provide(MemoryStorage.layer))
  const keys = ApiKeys.layer({ staticKeys: [Redacted.make(apiKey)] })
  const runtime = ManagedRuntime.make(
    Front.layerNoDeps.pipe(
      Layer.provideMerge(Layer.merge(LocalEngine.layer, Authorizer.layer.pipe(Layer.provide(keys)))),
      Layer.provideMerge(Recorder.layer),
      Layer.provideMerge(storage),
      Layer.provide(Logger.layer([]))
    )
  )
  onTestFinished(() => runtime.dispose())
  onTestFinished(release)
  return { runtime, release, seen, admission: (await runtime.runPromise(Engine)).admission }
}

/** A connection that sends these texts at once. */
const client = (port: number, ...texts: ReadonlyArray<string>) => {
  const socket = connect(port, "127.0.0.1").on("error", () => {})
  onTestFinished(() => void socket.destroy())
  socket.write(texts.join(""))
  return socket
}

const get = (path: string) => `GET /api/v1/${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiKey}\r\n\r\n`

const statusOf = async (port: number, path: string) =>
  (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, { headers })).status

/** All but the one whose requests are not run by this package. */
const ownMounts = Object.entries(servers).filter(([name]) => name !== "Effect's HttpRouter")

describe.each(["node:http", "Express", "Fastify"])("A client that does not wait for answers, over %s", (name) => {
  it("has at most 256 requests on a connection", async () => {
    const { runtime, seen } = await open()
    const port = await servers[name]!(runtime)
    const first = client(port, get("agents/a").repeat(256))
    await expect.poll(() => seen.reading).toBe(256)
    expect(first.closed).toBe(false)
    first.write(get("agents/a"))
    await expect.poll(() => [first.closed, seen.reading]).toEqual([true, 0])
  })

  it("has as many as it likes where they are answered", async () => {
    const { runtime } = await open()
    const socket = client(await servers[name]!(runtime))
    let text = ""
    socket.on("data", (chunk) => (text += String(chunk)))
    for (let sent = 200; sent <= 600; sent += 200) {
      socket.write(get("me").repeat(200))
      await expect.poll(() => text.match(/HTTP\/1\.1 200 /g)?.length).toBe(sent)
    }
  })
})

describe.each(ownMounts)("A client that leaves, over %s", (_, serveOver) => {
  it("ends its read", async () => {
    const { runtime, seen } = await open()
    const socket = client(await serveOver(runtime), get("agents/a"))
    await expect.poll(() => seen.reading).toBe(1)
    socket.destroy()
    await expect.poll(() => seen.reading).toBe(0)
  })

  it("ends the reads that wait for it behind another one", async () => {
    const { runtime, seen } = await open()
    const socket = client(await serveOver(runtime), get("agents/a").repeat(20))
    await expect.poll(() => seen.reading).toBe(20)
    socket.destroy()
    await expect.poll(() => seen.reading).toBe(0)
  })

  it("does not end what it records", async () => {
    const { admission, release, runtime, seen } = await open()
    const body = JSON.stringify(event("11111111-1111-4111-8111-111111111111"))
    const lines = ["POST /api/v1/events HTTP/1.1", "host: x", `authorization: Bearer ${apiKey}`]
    const head = [...lines, "content-type: application/json", `content-length: ${body.length}`, "", ""].join("\r\n")
    const socket = client(await serveOver(runtime), head, body, get("agents/a"))
    await expect.poll(() => seen).toEqual({ reading: 1, writing: 1, written: 0 })
    socket.destroy()
    await expect.poll(() => seen.reading).toBe(0)
    expect([seen.writing, admission.queued.events]).toEqual([1, 1])
    release()
    await expect.poll(() => [seen.written, admission.queued.events]).toEqual([1, 0])
  })

  it("lets others wait for events", async () => {
    const { runtime } = await open()
    const port = await serveOver(runtime)
    const left = Array.from({ length: 256 }, () => client(port, get("events/stream?wait=30")))
    await expect.poll(() => statusOf(port, "events/stream?wait=0")).toBe(503)
    for (const socket of left) socket.destroy()
    await expect.poll(() => statusOf(port, "events/stream?wait=0")).toBe(200)
  })
})
