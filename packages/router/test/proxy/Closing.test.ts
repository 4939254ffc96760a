/** Calls that are under way when the proxy ends are recorded as far as they came. */
import { CommitLimits, defaultCommitLimits, Errors, MemoryStorage, Storage } from "@tachograph/core"
import { Effect, Layer, Logger } from "effect"
import { once } from "node:events"
import { request as httpRequest, type ServerResponse } from "node:http"
import { expect, it, onTestFinished, vi } from "vitest"
import { createTachograph } from "../../src/index.ts"
import { CloseGraceMs } from "../../src/mounts/PendingCalls.ts"
import { apiKey } from "../Samples.ts"
import { served } from "../Served.ts"
import { withKey } from "./Client.ts"
import { upstream } from "./Upstream.ts"

const path = "/proxy/local/chat/completions"

const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`

/** Begins to stream, and never ends. */
const streaming = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream" }).write(chunk("so ") + chunk("far"))
}

type Append = Storage["Service"]["appendEvents"]

/** A proxy over a storage that appends as the test says, and that can be read when the proxy is closed. */
const proxyTo = async (
  respond: (response: ServerResponse) => void,
  appendOf: (append: Append) => Append = (append) => append
) => {
  const { received, url } = await upstream(respond)
  const memory = await Effect.runPromise(Effect.provide(Storage, MemoryStorage.layer))
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
  const open = (append: Append) =>
    createTachograph({
      storage: Layer.mergeAll(
        Layer.succeed(Storage, { ...memory, appendEvents: append }),
        logger,
        Layer.succeed(CloseGraceMs, 50),
        Layer.succeed(CommitLimits, { ...defaultCommitLimits, closingMs: 50 })
      ),
      apiKeys: [apiKey],
      thread: false,
      proxy: { upstreams: { local: url } }
    })
  const tachograph = await open(appendOf(memory.appendEvents))
  onTestFinished(() => tachograph.close())
  /** What the calls are recorded as, in the order of their sessions. */
  const recorded = async () => {
    const { api, close } = await open(memory.appendEvents)
    const { events } = await api.listEvents({ limit: 1000 })
    const outputs = await Promise.all(
      events.map(async ({ event_id, session }) => [session, (await api.getEvent({ event_id })).properties.output])
    )
    await close()
    return Object.fromEntries(outputs.sort()) as Record<string, unknown>
  }
  return { lines, received, recorded, tachograph }
}

type Proxied = Awaited<ReturnType<typeof proxyTo>>

const init = (session: string) => ({
  method: "POST",
  headers: { ...withKey, "x-tachograph-session": session },
  body: '{"messages":[]}'
})

/** Ways to begin a call. Each resolves when its answer has begun, with how it ends. */
const callers = {
  node: async ({ tachograph }: Proxied) => {
    const { port } = await served(tachograph.node)
    return async (session: string) => {
      const { body, ...options } = init(session)
      const sent = httpRequest({ port, path, ...options }).end(body)
      const [answer] = await once(sent, "response")
      await once(answer, "data")
      return {
        end: once(answer, "end").then(
          () => "whole",
          () => "cut"
        )
      }
    }
  },
  fetch:
    async ({ tachograph }: Proxied) =>
    async (session: string) => {
      const response = await tachograph.fetch(new Request(`http://host${path}`, init(session)))
      const reader = response.body!.getReader()
      await reader.read()
      return {
        end: reader.read().then(
          ({ done }) => (done ? "whole" : "more"),
          () => "cut"
        )
      }
    }
}

const cutAnswer = {
  choices: [{ index: 0, message: { content: "so far" } }],
  error: { type: "exit", message: "The process ended during the call." }
}

it.each(["node", "fetch"] as const)("records streams that are open when it is closed, over %s", async (mount) => {
  const proxied = await proxyTo(streaming)
  const call = await callers[mount](proxied)
  const ends = await Promise.all(["a", "b", "c"].map(call))
  await proxied.tachograph.close()
  expect(await Promise.all(ends.map(({ end }) => end))).toEqual(["cut", "cut", "cut"])
  expect(await proxied.recorded()).toMatchObject({ a: cutAnswer, b: cutAnswer, c: cutAnswer })
  expect(proxied.lines).toEqual([])
})

it("answers 503 where the upstream has not answered, and records the call", async () => {
  const proxied = await proxyTo(() => {})
  const { port } = await served(proxied.tachograph.node)
  const { body, ...options } = init("a")
  const answered = once(httpRequest({ port, path, ...options }).end(body), "response")
  const fetched = proxied.tachograph.fetch(new Request(`http://host${path}`, init("b")))
  await vi.waitFor(() => expect(proxied.received).toHaveLength(2), { timeout: 60_000 })
  await proxied.tachograph.close()
  expect([(await answered)[0].statusCode, (await fetched).status]).toEqual([503, 503])
  const { error } = cutAnswer
  expect(await proxied.recorded()).toEqual({ a: { error }, b: { error } })
})

it("waits for streams that end in time, over fetch as well", async () => {
  let finish = () => {}
  const proxied = await proxyTo((response) => {
    streaming(response)
    finish = () => response.end("data: [DONE]\n\n")
  })
  const { end } = await (await callers.fetch(proxied))("a")
  const closed = proxied.tachograph.close()
  finish()
  await end
  await closed
  expect(await proxied.recorded()).toMatchObject({ a: { choices: [{ message: { content: "so far" } }] } })
  expect(JSON.stringify(await proxied.recorded())).not.toContain("error")
})

it.each([
  [
    "is away",
    Effect.fail(new Errors.StorageUnavailable({ cause: new Error("away") })),
    { last_error: "storage-unavailable" }
  ],
  ["never returns", Effect.never, { perhaps_recorded: 1 }]
])("counts what a storage that %s has not taken, and says why", async (_name, fail, more) => {
  const proxied = await proxyTo(streaming, (append) => (events) => Effect.andThen(fail, append(events)))
  const call = await callers.node(proxied)
  await call("a")
  await proxied.tachograph.close()
  const lines = proxied.lines.map((line) => JSON.parse(line) as { message: string; annotations: object })
  const left = lines.filter(({ message }) => message === "A model call passed the proxy and was not recorded")
  // The last of many attempts may be under way as well when the time is over.
  expect(left.map(({ annotations }) => annotations)).toMatchObject([
    { reason: "closing", calls_not_logged: 0, ...more }
  ])
})
