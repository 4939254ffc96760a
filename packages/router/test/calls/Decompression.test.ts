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

/** Each layer is a little longer than what it holds. */
const layers = (count: number, body: Buffer) => {
  for (let layer = 0; layer < count; layer++) body = gzipSync(body, { level: 0 })
  return body
}

const gzips = (count: number) => Array.from({ length: count }, () => "gzip").join(", ")

it("undoes up to three encodings, and `identity` is none", async () => {
  const body = Buffer.from(text)
  expect(String(await decompress(layers(3, body), `identity, ${gzips(3)}, identity`, 1_000))).toBe(text)
  for (const count of [4, 900]) expect(await decompress(layers(count, body), gzips(count), 100_000)).toBe("undecodable")
})

it("has no more than the limit over all its encodings", async () => {
  const body = Buffer.from("a".repeat(1_000))
  const putOut = layers(2, body).length + layers(1, body).length + body.length
  expect(await decompress(layers(3, body), gzips(3), putOut)).toEqual(body)
  expect(await decompress(layers(3, body), gzips(3), putOut - 1)).toBe("too-large")
})

it.each([
  ["empty", zstdCompressSync("")],
  ["to be skipped", skippable]
])("has no more than 32,768 frames that are %s, over all its encodings", async (_name, frame) => {
  const frames = (count: number) => Buffer.alloc(count * frame.length, frame)
  expect(await decompress(frames(32_768), "zstd", 300_000)).toHaveLength(0)
  expect(await decompress(frames(32_769), "zstd", 300_000)).toBe("too-large")
  expect(await decompress(zstdCompressSync(frames(32_768)), "zstd, zstd", 400_000)).toBe("too-large")
})
