import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { decompress } from "../../src/calls/Decompression.ts"

const text = '{"choices":[{"message":{"content":"some text, and some text again"}}]}'
const parts = [text.slice(0, 20), "", text.slice(20, 50), text.slice(50)]

/** RFC 8878, section 3.1.2: 3 bytes that are no part of the content. */
const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])

const bodies: ReadonlyArray<readonly [name: string, encoding: string, body: Buffer]> = [
  ["gzip", "gzip", gzipSync(text)],
  ["gzip of several members", "x-gzip", Buffer.concat(parts.map((part) => gzipSync(part)))],
  ["deflate", "deflate", deflateSync(text)],
  ["deflate without its frame", "deflate", deflateRawSync(text)],
  ["brotli", "br", brotliCompressSync(text)],
  ["zstd", "zstd", zstdCompressSync(text)],
  ["zstd of several frames", "zstd", Buffer.concat(parts.map((part) => zstdCompressSync(part)))],
  ["zstd with a frame to be skipped", "ZSTD", Buffer.concat([skippable, zstdCompressSync(text), skippable])]
]

describe.each(bodies)("a body in %s", (_name, encoding, body) => {
  it("is decompressed whole, and as far as it came", async () => {
    expect(String(await decompress(body, encoding, 1_000))).toBe(text)
    for (let end = 0; end < body.length; end++) {
      const start = await decompress(body.subarray(0, end), encoding, 1_000)
      expect(text.startsWith(String(start))).toBe(true)
    }
  })

  it("has no more than the limit", async () => {
    expect(String(await decompress(body, encoding, text.length))).toBe(text)
    expect(await decompress(body, encoding, text.length - 1)).toBe("too-large")
  })
})

it("undoes several encodings, the last first", async () => {
  const body = gzipSync(Buffer.concat(parts.map((part) => zstdCompressSync(part))))
  expect(String(await decompress(body, "zstd, gzip", 1_000))).toBe(text)
})

it("says which bodies are not of the encoding", async () => {
  for (const encoding of ["gzip", "deflate", "br", "zstd", "unknown"])
    expect(await decompress(Buffer.from("some other bytes"), encoding, 1_000)).toBe("undecodable")
})
