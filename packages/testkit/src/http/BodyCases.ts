/** The content type, the encoding and the size of a body. */
import { Buffer } from "node:buffer"
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { expectError, expectInvalid } from "./Requests.ts"

const path = "/api/v1/agents"

/** The default quality takes seconds for 32 MiB. */
const brotli = (body: Buffer) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })

const encodings: ReadonlyArray<readonly [name: string, compress: (body: Buffer) => Uint8Array]> = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotli],
  ["zstd", zstdCompressSync]
]

/** A valid body with a given number of bytes. */
const sized = (bytes: number) => {
  const [start, end] = [`{"agent_name":"sized","x":"`, `"}`]
  return start + "x".repeat(bytes - start.length - end.length) + end
}

export const define = ({ describe, fixture, it }: Cases) => {
  const send = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fixture().client.call("PUT", path, body, headers)

  describe("Bodies", () => {
    it.each(
      [
        "application/json",
        "Application/JSON; Charset=UTF-8",
        "application/problem+json",
        "application/JSON ;x=y",
        "application/+json"
      ],
      { tags: ["adapter"] }
    )("accepts JSON as %s", async (type) => {
      expect((await send(`{"agent_name":"typed"}`, { "content-type": type })).status).toBe(200)
    })

    it.each(["text/plain", "application/xml", "application/json-seq", "json"], { tags: ["adapter"] })(
      "rejects JSON as %s",
      async (type) => {
        expectInvalid(await send(`{"agent_name":"x"}`, { "content-type": type }), "model_attributes_type", "body")
      }
    )

    it.each(encodings, { tags: ["adapter", "body-limit"] })(
      "accepts %s, and limits the decompressed size",
      async (encoding, compress) => {
        const compressed = (body: string) =>
          send(new Uint8Array(compress(Buffer.from(body))), { "content-encoding": encoding })
        expect((await compressed(sized(100_000))).status).toBe(200)
        expectError(await compressed(sized(fixture().maxBody + 1)), 413, "payload-too-large")
      }
    )

    it.each(encodings, { tags: ["adapter"] })("rejects a body that is not valid %s", async (encoding) => {
      expectInvalid(await send(`{"agent_name":"x"}`, { "content-encoding": encoding }), "json_invalid", "body", "0")
    })

    it("rejects any other encoding", { tags: ["adapter"] }, async () => {
      const answer = await send(`{"agent_name":"x"}`, { "content-encoding": "compress" })
      expectError(answer, 415, "unsupported-content-encoding")
    })

    it(
      "accepts a body of the maximum size, and rejects one byte more",
      { tags: ["adapter", "body-limit"] },
      async () => {
        const { maxBody } = fixture()
        expect((await send(sized(maxBody))).status).toBe(200)
        expectError(await send(sized(maxBody + 1)), 413, "payload-too-large")
      }
    )
  })
}
