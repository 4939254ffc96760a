/** Bodies that stop, are aborted, or are refused while they arrive: nothing of them stays reserved, and no client hangs. */
import { CommitLimits, defaultCommitLimits, MemoryStorage } from "@tachograph/core"
import { Layer } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { gzipSync } from "node:zlib"
import { createTachograph } from "../../src/index.ts"
import { apiKey, event, fingerprint } from "../Samples.ts"
import { exchange, served } from "../Served.ts"

const url = "http://localhost/api/v1/events"
const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" }

const opened = async () => {
  const limits = { ...defaultCommitLimits, bodyBudgetBytes: 5_000 }
  const storage = Layer.merge(MemoryStorage.layer, Layer.succeed(CommitLimits, limits))
  const tachograph = await createTachograph({ storage, apiKeys: [apiKey], maxBody: 100_000 })
  onTestFinished(() => tachograph.close())
  const body = JSON.stringify(event(await tachograph.fingerprint(fingerprint)))
  const record = () => tachograph.fetch(new Request(url, { method: "POST", headers, body }))
  return { tachograph, body, record }
}

/** A request whose body arrives as the test says. */
const streamed = (signal?: AbortSignal) => {
  let controller!: ReadableStreamDefaultController<unknown>
  let isCancelled = false
  const body = new ReadableStream({
    start: (given) => void (controller = given),
    cancel: () => void (isCancelled = true)
  })
  /** Whether all that was enqueued has been read, or nothing of it will be. */
  const isRead = () => isCancelled || controller.desiredSize === null || controller.desiredSize > 0
  const init = { method: "POST", headers, body, duplex: "half", ...(signal && { signal }) }
  return { controller, isRead, request: new Request(url, init as RequestInit) }
}

describe("A body that is aborted", () => {
  it("reserves nothing afterwards", async () => {
    const { record, tachograph } = await opened()
    const aborting = new AbortController()
    const { controller, isRead, request } = streamed(aborting.signal)
    const answer = tachograph.fetch(request).catch((error: unknown) => error)
    controller.enqueue(new Uint8Array(10))
    await expect.poll(isRead).toBe(true)
    aborting.abort()
    await answer
    // What still arrives is not counted. A stream that was cancelled takes no more.
    if (!isRead() || controller.desiredSize === 1) controller.enqueue(new Uint8Array(4_900))
    await expect.poll(isRead).toBe(true)
    for (let n = 0; n < 3; n++) expect((await record()).status).toBe(200)
    const both = await Promise.all([record(), record()])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
  })
})

describe("A web stream whose chunks are not bytes", () => {
  it.each(["text", {}, 1])("is answered 422: %j", async (chunk) => {
    const { tachograph } = await opened()
    const { controller, request } = streamed()
    controller.enqueue(chunk)
    controller.close()
    const answer = await tachograph.fetch(request)
    expect([answer.status, await answer.json()]).toMatchObject([422, { detail: [{ type: "json_invalid" }] }])
  })
})

describe("A body over node:http that is refused while it arrives", () => {
  it.each([{}, { "content-encoding": "gzip" }])(
    "is answered 413, and the next request on its connection is answered: %j",
    async (extra) => {
      const { tachograph } = await opened()
      const { port } = await served(tachograph.node)
      // As sent, or decompressed, 15 times the limit.
      const text = Buffer.alloc(1_500_000, 0x20)
      const body = "content-encoding" in extra ? Buffer.concat([gzipSync(text), Buffer.alloc(300_000)]) : text
      const lines = Object.entries({ host: "localhost", ...headers, ...extra, "transfer-encoding": "chunked" })
      const head = `POST /api/v1/events HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`
      const chunks = Array.from({ length: Math.ceil(body.length / 50_000) }, (_, n) => {
        const chunk = body.subarray(50_000 * n, 50_000 * (n + 1))
        return Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")])
      })
      const next = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
      const answers = await exchange(port, head, ...chunks, "0\r\n\r\n", next)
      expect(answers).toMatch(/^HTTP\/1\.1 413 [^]*payload-too-large[^]*HTTP\/1\.1 200 [^]*"ok"/)
    }
  )

  it("does not keep the other answers of a turn from being written", async () => {
    const { body, tachograph } = await opened()
    const fetch = await served((request, response) => {
      if (request.headers["x-broken"] !== undefined) {
        response.writeHead = () => {
          throw new Error("planted by the test")
        }
      }
      tachograph.node(request, response)
    })
    const send = (extra: Record<string, string>) =>
      fetch(new Request(url, { method: "POST", headers: { ...headers, ...extra }, body })).catch(() => undefined)
    const answers = await Promise.all([send({ "x-broken": "1" }), send({}), send({})])
    expect(answers.map((answer) => answer?.status)).toEqual([undefined, 200, 200])
  })
})
