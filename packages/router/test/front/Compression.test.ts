/** Compressed bodies: what follows them, and where they are cut. */
import { describe, expect, it } from "vitest"
import { Readable, Writable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { brotliCompressSync, constants, createZstdDecompress, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { maxFrames, ZstdFrames } from "../../src/calls/ZstdFrames.ts"
import { apiKey, opened } from "../Samples.ts"

const text = '{"agent_name":"a"} '
const [first, second] = [text.slice(0, 9), text.slice(9)]

const encodings = {
  gzip: (body: string) => gzipSync(body),
  deflate: (body: string) => deflateSync(body),
  br: (body: string) => brotliCompressSync(body),
  zstd: (body: string) => zstdCompressSync(body)
}

const chunkings: Readonly<Record<string, (parts: ReadonlyArray<Buffer>) => ReadonlyArray<Uint8Array>>> = {
  "in one chunk": (parts) => [new Uint8Array(Buffer.concat(parts))],
  "in a chunk for each part": (parts) => parts.map((part) => new Uint8Array(part)),
  "byte by byte": (parts) => Array.from(Buffer.concat(parts), (byte) => Uint8Array.of(byte))
}

const notValid = (encoding: string) => ({
  detail: [{ type: "json_invalid", ctx: { error: `The body is not valid ${encoding}` } }]
})

describe.each(Object.entries(chunkings))("A compressed body, %s,", async (_, chunked) => {
  const send = (encoding: string, ...parts: ReadonlyArray<Buffer>) => sendTo({}, encoding, ...parts)
  const sendTo = async (
    options: { readonly maxOtherBody?: number },
    encoding: string,
    ...parts: ReadonlyArray<Buffer>
  ) => {
    const tachograph = await opened(options)
    const headers = {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      "content-encoding": encoding
    }
    const body = ReadableStream.from(chunked(parts))
    const init = { method: "PUT", headers, body, duplex: "half" } as RequestInit
    const answer = await tachograph.fetch(new Request("http://localhost/api/v1/agents", init))
    return { status: answer.status, body: (await answer.json()) as unknown }
  }

  it.each(Object.entries(encodings))("is accepted in %s, and in another on top of it", async (encoding, compress) => {
    expect((await send(encoding, compress(text))).status).toBe(200)
    expect((await send(`${encoding}, gzip`, gzipSync(compress(text)))).status).toBe(200)
  })

  it("is refused if what is between two encodings is larger than a body may be", async () => {
    const empty = gzipSync("").subarray(0, 10)
    const end = Buffer.from([1, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0])
    // Blocks of gzip without a byte (RFC 1951, section 3.2.4), which are nothing in the end.
    const blocks = (count: number) => Buffer.concat([empty, Buffer.alloc(5 * count, "000000ffff", "hex"), end])
    // At its best quality, brotli takes seconds for such a text.
    const compress = (body: Buffer) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
    // Not the default: byte by byte, a body of 1 MiB takes seconds. Several times what zlib gives at once.
    const limit = 64 * 1024
    const send = (encoding: string, ...parts: ReadonlyArray<Buffer>) =>
      sendTo({ maxOtherBody: limit }, encoding, ...parts)
    const most = Math.floor((limit - empty.length - end.length) / 5)
    expect(await send("gzip, br", compress(blocks(most)))).toMatchObject({ status: 422 })
    expect(await send("gzip, br", compress(blocks(most + 1)))).toMatchObject({
      status: 413,
      body: { type: "payload-too-large" }
    })
    expect(await send("gzip", blocks(most + 1))).toMatchObject({ status: 413 })
  })

  it.each(Object.entries(encodings))("is refused in %s if anything follows it", async (encoding, compress) => {
    for (const rest of [
      Buffer.from("x"),
      Buffer.alloc(100),
      Buffer.from('{"agent_name":"b"}'),
      // More than zlib gives, and than is gathered, at once: 16 KiB.
      Buffer.alloc(40_000, 1)
    ]) {
      expect(await send(encoding, compress(text), rest)).toMatchObject({ status: 422, body: notValid(encoding) })
      const twice = await send(`${encoding}, gzip`, gzipSync(Buffer.concat([compress(text), rest])))
      expect(twice).toMatchObject({ status: 422, body: notValid(`${encoding}, gzip`) })
    }
  })

  it.each(Object.entries(encodings))("is refused in %s if it is cut", async (encoding, compress) => {
    const whole = compress(text)
    for (const length of [0, 1, 3, whole.length - 1]) {
      const answer = await send(encoding, whole.subarray(0, length))
      expect([length, answer]).toMatchObject([length, { status: 422, body: notValid(encoding) }])
    }
  })

  it.each(["gzip", "zstd"] as const)("may be several in %s, none of which is cut", async (encoding) => {
    const compress = encodings[encoding]
    expect(await send(encoding, compress(first), compress(second))).toMatchObject({
      status: 200,
      body: { agent_name: "a" }
    })
    expect((await send(encoding, compress(first), compress(""), compress(second), compress(""))).status).toBe(200)
    const last = compress(second)
    for (const length of [1, 3, 5, last.length - 1]) {
      const answer = await send(encoding, compress(first), last.subarray(0, length))
      expect([length, answer]).toMatchObject([length, { status: 422, body: notValid(encoding) }])
    }
  })

  it.each(["deflate", "br"] as const)("is one in %s", async (encoding) => {
    const compress = encodings[encoding]
    const answer = await send(encoding, compress(text), compress(" "))
    expect(answer).toMatchObject({ status: 422, body: notValid(encoding) })
  })

  it("may have skippable frames in zstd", async () => {
    const skippable = (magic: number, bytes: number) => {
      const frame = Buffer.alloc(8 + bytes, 7)
      frame.writeUInt32LE(magic, 0)
      frame.writeUInt32LE(bytes, 4)
      return frame
    }
    const frames = [
      skippable(0x184d2a50, 10),
      zstdCompressSync(first),
      skippable(0x184d2a5f, 0),
      zstdCompressSync(second)
    ]
    expect((await send("zstd", ...frames)).status).toBe(200)
    expect((await send("zstd", ...frames, skippable(0x184d2a55, 10))).status).toBe(200)
    expect((await send("zstd", ...frames, skippable(0x184d2a55, 10).subarray(0, -1))).status).toBe(422)
    expect((await send("zstd", ...frames, skippable(0x184d2a60, 0))).status).toBe(422)
  })
})

describe("ZstdFrames", () => {
  const decompress = async (chunks: ReadonlyArray<Buffer>): Promise<Buffer> => {
    const parts: Array<Buffer> = []
    const sink = new Writable({ write: (chunk: Buffer, _encoding, done) => (parts.push(chunk), done()) })
    await pipeline([Readable.from(chunks), new ZstdFrames(), createZstdDecompress(), sink])
    return Buffer.concat(parts)
  }
  const bodies = [
    Buffer.alloc(0),
    Buffer.from("x"),
    Buffer.alloc(300, 1),
    Buffer.alloc(1_000_000, 1),
    // Does not compress, and has more than a block of zstd can have: 128 KiB.
    Buffer.from(Array.from({ length: 150_000 }, (_, n) => (n * n * 7919) >>> 7))
  ]
  const { ZSTD_c_checksumFlag, ZSTD_c_compressionLevel, ZSTD_c_contentSizeFlag } = constants

  it.each([
    ["the defaults", {}],
    ["a checksum", { [ZSTD_c_checksumFlag]: 1 }],
    ["no content size", { [ZSTD_c_contentSizeFlag]: 0 }],
    ["a low level", { [ZSTD_c_compressionLevel]: -7 }],
    ["a high level", { [ZSTD_c_compressionLevel]: 19, [ZSTD_c_checksumFlag]: 1 }]
  ])("follows frames with %s", async (_, params) => {
    const known = bodies.map((body) => zstdCompressSync(body, { params, pledgedSrcSize: body.length }))
    const unknown = bodies.map((body) => zstdCompressSync(body, { params }))
    const all = Buffer.concat([...known, ...unknown])
    const expected = Buffer.concat([...bodies, ...bodies])
    for (const size of [all.length, 65_536, 1_000, 7]) {
      const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
        all.subarray(n * size, (n + 1) * size)
      )
      expect((await decompress(chunks)).equals(expected)).toBe(true)
    }
  })
})

describe("A body in zstd", () => {
  it("has a bounded number of frames", async () => {
    const tachograph = await opened()
    const empty = Buffer.from("502a4d1800000000", "hex")
    const put = async (frames: number, encoding: string, compress: (body: Buffer) => Buffer) => {
      const body = Buffer.concat([...Array<Buffer>(frames - 1).fill(empty), zstdCompressSync(text)])
      const headers = { authorization: `Bearer ${apiKey}`, "content-encoding": encoding }
      const init = { method: "PUT", headers, body: compress(body) } as RequestInit
      return (await tachograph.fetch(new Request("http://localhost/api/v1/agents", init))).status
    }
    expect(await put(maxFrames, "zstd", (body) => body)).toBe(200)
    expect(await put(maxFrames + 1, "zstd", (body) => body)).toBe(413)
    expect(await put(maxFrames + 1, "zstd, gzip", gzipSync)).toBe(413)
  })
})
