/** Compressed answers: which encoding is chosen, what is compressed, and on which thread. */
import { sqlite } from "@tachograph/storage-sqlite"
import { HttpClient } from "@tachograph/testkit"
import { Effect } from "effect"
import { createServer } from "node:http"
import { mkdtempSync, rmSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync, zstdDecompressSync } from "node:zlib"
import { describe, expect, it, onTestFinished } from "vitest"
import * as AnswerCompression from "../../src/engine/AnswerCompression.ts"
import { createTachograph } from "../../src/index.ts"
import * as Answer from "../../src/response/Answer.ts"
import { apiKey, event, fingerprint, opened } from "../Samples.ts"

describe("the encoding", () => {
  it.each([
    [undefined, undefined],
    ["", undefined],
    ["identity", undefined],
    ["deflate", undefined],
    ["gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["GZIP", "gzip"],
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip, deflate, br", "br"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br ; Q=0.801, gzip;q=0.8", "br"],
    ["zstd;q=0, br;q=0.0, gzip;q=0.001", "gzip"],
    ["*", "zstd"],
    ["*;q=0.1, gzip", "gzip"],
    ["zstd;q=0, *", "br"],
    ["*;q=0", undefined],
    ["identity, gzip;q=0.5", undefined],
    ["identity;q=0.5, gzip;q=0.5", "gzip"],
    ["gzip;q=2", undefined],
    ["gzip;q=-1, br;q=x", undefined],
    ["gzip;q=0.1234", undefined],
    [",, gzip ,", "gzip"],
    ["gzip".repeat(4_000), undefined]
  ] as const)("for Accept-Encoding %j is %s", (header, encoding) => {
    expect(AnswerCompression.preferred(header)).toBe(encoding)
  })
})

const text = (bytes: number) => "0123456789 is repeated. ".repeat(bytes).slice(0, bytes)

describe("an answer", () => {
  const compress = AnswerCompression.make()
  const run = (answer: Answer.Answer, accepted = "gzip") => Effect.runPromise(compress(answer, accepted))
  const bytesOf = ({ body }: Answer.Answer) => Buffer.from(Answer.whole(body))

  it("is sent as it is if it is short", async () => {
    for (const body of [text(1_023), [Buffer.from(text(1_000)), Buffer.from(text(23))]]) {
      const answer = Answer.json(body)
      expect(await run(answer)).toBe(answer)
    }
  })

  it.each([1_024, 32 * 1024, 32 * 1024 + 1, 500_000])(
    "of %d bytes is compressed, in one part or several",
    async (bytes) => {
      const half = Math.floor(bytes / 2)
      for (const body of [
        text(bytes),
        [Buffer.from(text(bytes).slice(0, half)), Buffer.from(text(bytes).slice(half))]
      ]) {
        const answer = await run(Answer.json(body))
        expect(answer.headers).toEqual({
          "content-type": "application/json",
          "content-encoding": "gzip",
          vary: "Accept-Encoding"
        })
        expect(gunzipSync(bytesOf(answer)).toString()).toBe(text(bytes))
      }
    }
  )

  it("is sent as it is if compressing gains nothing, or is not asked for", async () => {
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(40_000)))
    const answer = await run(Answer.json([Buffer.from(noise)]))
    expect([bytesOf(answer).equals(noise), answer.headers["content-encoding"]]).toEqual([true, undefined])
    const asked = await run(Answer.json(text(5_000)), "identity")
    expect([asked.body, asked.headers["vary"], asked.headers["content-encoding"]]).toEqual([
      text(5_000),
      "Accept-Encoding",
      undefined
    ])
  })

  it("is sent as it is while eight long ones are compressed", async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => run(Answer.json(text(200_000)))))
    const encodings = answers.map(({ headers }) => headers["content-encoding"])
    expect(encodings).toEqual([
      ...Array.from({ length: 8 }, () => "gzip"),
      ...Array.from({ length: 4 }, () => undefined)
    ])
    for (const answer of answers.slice(8)) expect(answer.body).toBe(text(200_000))
    expect((await run(Answer.json(text(200_000)))).headers["content-encoding"]).toBe("gzip")
  })

  it("that is the same for every request is compressed once", async () => {
    const shared = Answer.shared(Answer.json(text(100_000)))
    const [first, second] = [await run(shared), await run(shared)]
    expect(first.isShared).toBe(true)
    expect((second.body as ReadonlyArray<unknown>)[0]).toBe((first.body as ReadonlyArray<unknown>)[0])
    expect(zstdDecompressSync(bytesOf(await run(shared, "zstd"))).toString()).toBe(text(100_000))
  })

  it("is not compressed any further when its client has gone", async () => {
    const controller = new AbortController()
    const exit = Effect.runPromiseExit(compress(Answer.json(text(5_000_000)), "gzip"), { signal: controller.signal })
    controller.abort()
    expect((await exit)._tag).toBe("Failure")
    expect((await run(Answer.json(text(200_000)))).headers["content-encoding"]).toBe("gzip")
  })
})

it("is compressed by the engine on its thread, and counted as it is sent", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-compression-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const tachograph = await createTachograph({ storage: sqlite(join(folder, "t.db")), apiKeys: [apiKey] })
  onTestFinished(() => tachograph.close())
  const id = await tachograph.fingerprint(fingerprint)
  const properties = { api: "aisdk", inputs: { text: text(400_000) }, output: {} }
  const { event_id } = await tachograph.record(event(id, { properties }))
  const client = HttpClient.make(tachograph.fetch, apiKey)
  const path = `/api/v1/events/${event_id}`
  const { text: plain } = await client.get(path)
  const answer = await client.call("GET", path, undefined, { "accept-encoding": "gzip" })
  expect(answer.headers.get("content-length")).toBe(String(answer.bytes.length))
  expect(answer.bytes.length).toBeLessThan(plain.length / 10)
  expect(gunzipSync(answer.bytes).toString()).toBe(plain)
})

it("keeps what the host's answers vary by", async () => {
  const tachograph = await opened()
  const server = createServer((request, response) => {
    response.setHeader("vary", "Origin")
    tachograph.node(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const { headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.json`)
  expect(headers.get("vary")).toBe("Origin, Accept-Encoding")
})
