/** No key that passes the proxy is in an event, a line of the log, a metric or an error of the proxy, whatever becomes of the call. */
import { Errors, MemoryStorage, Storage } from "@tachograph/core"
import { Effect, Layer, Logger, References } from "effect"
import { request, type ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { expect, it, onTestFinished, vi } from "vitest"
import { createTachograph } from "../../src/index.ts"
import { apiKey } from "../Samples.ts"
import { served } from "../Served.ts"
import { send } from "./Client.ts"
import { upstream } from "./Upstream.ts"

/** All forms of one begin alike, so that a part of one is found as well. */
const planted = (name: string) => `PLANTED-${name}-0123456789/+=&<"`

const inHeaders = {
  authorization: `Bearer ${planted("bearer")}`,
  "x-api-key": planted("x-api-key"),
  apikey: planted("apikey"),
  "ocp-apim-subscription-key": planted("subscription"),
  cookie: `session=${planted("cookie")}; other-token=${encodeURIComponent(planted("encoded-cookie"))}`,
  "x-amz-security-token": planted("token"),
  "X-Auth-Key": planted("auth-key"),
  "x-functions-key": planted("functions-key"),
  "X-Password": planted("password"),
  "x-mine": `Bearer ${planted("mine")}`,
  "x-tachograph-person": planted("bearer"),
  "x-tachograph-agent": `agent of ${planted("x-api-key")}`
}

const parameters = ["key", "code", "password", "apikey", "access_token", "X-Amz-Signature"]
const query = parameters.map((name) => `${name}=${encodeURIComponent(planted(name))}`).join("&")
const oddQuery = `sig=${encodeURIComponent(planted("odd")).replaceAll("-", "%2d").toLowerCase().replace("planted", "PLANTED")}`

const keys = [
  ...["bearer", "x-api-key", "apikey", "subscription", "cookie", "encoded-cookie", "token"].map(planted),
  ...["auth-key", "functions-key", "password", "mine", ...parameters].map(planted)
]

/** Everything that came with a request, as a provider or a tool may repeat it. */
const echo = [...keys, ...keys.map(encodeURIComponent), Object.values(inHeaders).join(), query, oddQuery]

/** JSON as JavaScript, PHP, Go and .NET write it. */
const writers: ReadonlyArray<(value: unknown) => string> = [
  JSON.stringify,
  (value) => JSON.stringify(value).replaceAll("/", "\\/"),
  (value) => JSON.stringify(value).replaceAll("&", "\\u0026").replaceAll("<", "\\u003c"),
  (value) =>
    JSON.stringify(value)
      .replaceAll("&", "\\u0026")
      .replaceAll("<", "\\u003C")
      .replaceAll("+", "\\u002B")
      .replaceAll('\\"', "\\u0022")
]

const json = { "content-type": "application/json" }
const error = (write: (value: unknown) => string) => write({ error: { message: `You sent ${echo.join(" ")}`, echo } })
const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`

type Respond = (response: ServerResponse) => unknown

const answers: ReadonlyArray<readonly [name: string, answer: Respond]> = [
  ...writers.map(
    (write, at) =>
      [`errors (${at})`, (response: ServerResponse) => response.writeHead(401, json).end(error(write))] as const
  ),
  ...writers.map(
    (write, at) =>
      [`succeeds (${at})`, (response: ServerResponse) => response.writeHead(200, json).end(error(write))] as const
  ),
  ["answers with a page", (response) => response.writeHead(502).end(`<html>${echo.join()}`)],
  [
    "answers what is compressed",
    (response) => {
      response.writeHead(400, { ...json, "content-encoding": "gzip" }).end(gzipSync(error(JSON.stringify)))
    }
  ],
  [
    "streams",
    (response) => {
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end(`${echo.map(chunk).join("")}data: [DONE]\n\n`)
    }
  ],
  [
    "breaks off",
    (response) => {
      response.writeHead(200, json).write(error(JSON.stringify).slice(0, -2), () => response.destroy())
    }
  ],
  ["closes the connection", (response) => response.destroy()],
  ["stays silent", () => {}],
  [
    "falls silent",
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(echo.map(chunk).join(""))
    }
  ],
  [
    "answers what cannot be decompressed",
    (response) => {
      response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(error(JSON.stringify))
    }
  ]
]

type Append = Storage["Service"]["appendEvents"]

const appends: ReadonlyArray<readonly [name: string, fail: ((append: Append) => Append) | undefined]> = [
  ["is recorded", undefined],
  ["cannot be recorded", () => () => Effect.die(new Error("a bug"))],
  [
    "is recorded later",
    (append) => {
      let calls = 0
      return (events) =>
        Effect.suspend(() =>
          ++calls === 1 ? Effect.fail(new Errors.StorageUnavailable({ cause: new Error("away") })) : append(events)
        )
    }
  ]
]

it.each(appends)("no key is anywhere when the call %s", async (name, fail) => {
  const lines: Array<string> = []
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((text) => lines.push(String(text)) > 0)
  onTestFinished(() => void vi.restoreAllMocks())
  const storage = Layer.effect(
    Storage,
    Effect.map(Storage, (memory) => ({ ...memory, appendEvents: fail?.(memory.appendEvents) ?? memory.appendEvents }))
  ).pipe(Layer.provide(MemoryStorage.layer))
  const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
  let respond: Respond
  const { url } = await upstream((response) => void respond(response))
  const tachograph = await createTachograph({
    storage: Layer.mergeAll(storage, logger, Layer.succeed(References.MinimumLogLevel, "All")),
    apiKeys: [apiKey],
    proxy: { upstreams: { local: url, gone: "http://127.0.0.1:1" }, idleTimeoutMs: 2_000 }
  })
  onTestFinished(() => tachograph.close())
  const { port } = await served(tachograph.node)
  const body = JSON.stringify({ messages: [{ role: "user", content: echo.join(" ") }], echo })
  const call = async (path: string, key = apiKey, sent: string = body) => {
    const target = `/proxy/${path}?${query}&${oddQuery}`
    return send(port, target, { headers: { ...inHeaders, "x-tachograph-key": key }, body: sent }).catch(() => undefined)
  }
  const own: Array<string> = []
  /** Breaks off once the answer has begun. */
  const callAborted = () =>
    new Promise<void>((resolve) => {
      const headers = { ...inHeaders, "x-tachograph-key": apiKey }
      const options = { port, path: `/proxy/local/chat/completions?${query}&${oddQuery}`, method: "POST", headers }
      const sent = request(options, (answer) => answer.once("data", () => sent.destroy()).on("error", () => {}))
      sent
        .on("error", () => {})
        .once("close", resolve)
        .end(body)
    })
  const fetchCall = async (rest: string) => {
    const headers = { ...inHeaders, "x-tachograph-key": apiKey }
    const response = await tachograph.fetch(new Request(`http://host/proxy/${rest}`, { method: "POST", headers, body }))
    return { status: response.status, text: await response.text().catch(() => "") }
  }
  // Each that cannot be recorded is tried several times.
  const given = name === "cannot be recorded" ? answers.slice(0, 2) : answers
  for (const [, answer] of given) {
    respond = answer
    await call("local/chat/completions")
  }
  respond = (response) => response.end(error(JSON.stringify))
  await call("local/chat/completions", apiKey, `not JSON ${body}`)
  await call("local/models")
  await call("local/model/anthropic.claude/invoke-with-response-stream")
  // More credentials than are looked for, over the mount that has no limit of its own.
  await fetchCall(`local/chat/completions?${query}&key=${encodeURIComponent(planted("long")).repeat(2_000)}`)
  if (name !== "cannot be recorded") {
    await fetchCall(`local/chat/completions?${query}&${oddQuery}`)
    respond = answers.find(([answer]) => answer === "falls silent")![1]
    await callAborted()
  }
  for (const [path, key] of [
    ["gone/chat/completions", apiKey],
    ["other/chat/completions", apiKey],
    ["local/../chat/completions", apiKey],
    ["local/chat/completions", ""],
    ["local/chat/completions", planted("tachograph")]
  ] as const) {
    const refused = await call(path, key)
    expect(refused!.answer.statusCode).toBeGreaterThanOrEqual(400)
    own.push(String(refused!.body), JSON.stringify(refused!.answer.rawHeaders))
  }
  const metrics = async () => (await tachograph.fetch(new Request("http://host/metrics"))).text()
  const waiting = async () => Number(/^tachograph_proxy_waiting_calls (\d+)$/m.exec(await metrics())?.[1])
  await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 60_000 })
  const { events } = await tachograph.api.listEvents({ limit: 1000 })
  const texts = await Promise.all(events.map(({ event_id }) => tachograph.api.getEvent.text({ event_id })))
  expect(await metrics()).toMatch(/calls_total\{outcome="too-many-credentials"\} [1-9]/)
  const fetched = [await fetchCall("gone/chat/completions"), await fetchCall(`other/chat/completions?${query}`)]
  expect(fetched.map(({ status }) => status)).toEqual([502, 404])
  await tachograph.close()
  fetched.push(await fetchCall(`local/chat/completions?${query}&${oddQuery}`))
  expect(fetched.at(-1)!.status).toBe(503)
  own.push(...fetched.map(({ text }) => text))
  // All but what is no JSON and what no upstream takes; one of Bedrock, one that cannot be reached, one over fetch, and one that is aborted.
  expect(texts).toHaveLength(name === "cannot be recorded" ? 0 : answers.length + 4)
  expect(texts.every((text) => text.includes("[redacted]"))).toBe(true)
  expect(lines.some((line) => line.includes("not recorded"))).toBe(true)
  const seen = [...texts, ...lines, ...own, await metrics().catch(() => "")].join("\n")
  expect(/.{0,60}PLANTED.{0,60}/.exec(seen)?.[0]).toBeUndefined()
})
