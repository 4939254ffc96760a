/** Bodies that stop, are aborted, or are refused while they arrive: nothing of them stays reserved, and no client hangs. */
import { CommitLimits, defaultCommitLimits, MemoryStorage } from "@tachograph/core"
import { Layer } from "effect"
import { randomBytes } from "node:crypto"
import { connect } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { gzipSync } from "node:zlib"
import { createTachograph } from "../../src/index.ts"
import { apiKey, event, fingerprint } from "../Samples.ts"
import { served } from "../Served.ts"

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
const streamed = (extra: Record<string, string>, signal?: AbortSignal) => {
  let controller!: ReadableStreamDefaultController<unknown>
  const body = new ReadableStream({ start: (given) => void (controller = given) })
  const init = { method: "POST", headers: { ...headers, ...extra }, body, duplex: "half", ...(signal && { signal }) }
  return { controller, request: new Request(url, init as RequestInit) }
}

/** Writes parts one after the other, each 2 ms after the one before, and reads to the end of the connection. */
const exchangeBytes = (port: number, parts: ReadonlyArray<string>) =>
  new Promise<string>((resolve, reject) => {
    let text = ""
    const socket = connect(port, "127.0.0.1", async () => {
      for (const part of parts) {
        socket.write(part, "latin1")
        await new Promise((done) => setTimeout(done, 2))
      }
    })
    socket.on("data", (data) => (text += String(data)))
    socket.on("end", () => resolve(text)).on("error", reject)
  })

describe("A body that is aborted", () => {
  it.each([{}, { "content-encoding": "gzip" }])("reserves nothing afterwards: %j", async (extra) => {
    const { record, tachograph } = await opened()
    const aborting = new AbortController()
    const { controller, request } = streamed(extra, aborting.signal)
    const answer = tachograph.fetch(request).catch((error: unknown) => error)
    const bytes = "content-encoding" in extra ? gzipSync(randomBytes(4_910)) : randomBytes(4_910)
    controller.enqueue(bytes.subarray(0, 10))
    await new Promise(setImmediate)
    aborting.abort()
    await answer
    // What still arrives is not counted. An aborted stream may be closed already.
    try {
      controller.enqueue(bytes.subarray(10))
      controller.close()
    } catch {}
    await new Promise((resolve) => setTimeout(resolve, 20))
    for (let n = 0; n < 3; n++) expect((await record()).status).toBe(200)
    const both = await Promise.all([record(), record()])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
  })
})

describe("A web stream whose chunks are not bytes", () => {
  it.each(["text", {}, 1])("is answered 422: %j", async (chunk) => {
    const { tachograph } = await opened()
    const { controller, request } = streamed({})
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
        return `${chunk.length.toString(16)}\r\n${chunk.toString("latin1")}\r\n`
      })
      const next = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
      const answers = await exchangeBytes(port, [head, ...chunks, "0\r\n\r\n", next])
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
