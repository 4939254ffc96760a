/** How a body may be sent: its type, its encoding and its size. */
import { Buffer } from "node:buffer"
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { describe, expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { expectError, expectInvalid } from "./Requests.ts"

const path = "/api/v1/agents"

/** What servers take unless they are told otherwise, in bytes. */
const limit = 32 * 1024 * 1024

/** At its best, brotli takes seconds for what is at the limit. */
const brotli = (body: Buffer) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })

const encodings: ReadonlyArray<readonly [name: string, compress: (body: Buffer) => Uint8Array]> = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotli],
  ["zstd", zstdCompressSync]
]

/** A valid body of exactly so many bytes. */
const sized = (bytes: number) => {
  const [start, end] = [`{"agent_name":"sized","x":"`, `"}`]
  return start + "x".repeat(bytes - start.length - end.length) + end
}

export const define = ({ it, subject }: Cases) => {
  const send = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    subject().client.call("PUT", path, body, headers)

  describe("Bodies", () => {
    it.each([
      "application/json",
      "Application/JSON; Charset=UTF-8",
      "application/problem+json",
      "application/JSON ;x=y",
      "application/+json"
    ])("are JSON as %s", async (type) => {
      expect((await send(`{"agent_name":"typed"}`, { "content-type": type })).status).toBe(200)
    })

    it.each(["text/plain", "application/xml", "application/json-seq", "json"])("are no JSON as %s", async (type) => {
      expectInvalid(await send(`{"agent_name":"x"}`, { "content-type": type }), "model_attributes_type", "body")
    })

    it.each(encodings)(
      "may be compressed with %s, up to the limit of what they expand to",
      async (encoding, compress) => {
        const compressed = (body: string) =>
          send(new Uint8Array(compress(Buffer.from(body))), { "content-encoding": encoding })
        expect((await compressed(sized(100_000))).status).toBe(200)
        expectError(await compressed(sized(limit + 1)), 413, "payload-too-large")
      }
    )

    it.each(encodings)("are refused where they are no %s", async (encoding) => {
      expectInvalid(await send(`{"agent_name":"x"}`, { "content-encoding": encoding }), "json_invalid", "body", "0")
    })

    it("may be encoded in no other way", async () => {
      const answer = await send(`{"agent_name":"x"}`, { "content-encoding": "compress" })
      expectError(answer, 415, "unsupported-content-encoding")
    })

    it("may have 32 MiB, and not a byte more", async () => {
      expect((await send(sized(limit))).status).toBe(200)
      expectError(await send(sized(limit + 1)), 413, "payload-too-large")
    })
  })
}
