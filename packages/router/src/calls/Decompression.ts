/** Decompresses copies of bodies, off the event loop. What was cut is decompressed as far as it came. */
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import { ZstdFrames } from "../ZstdFrames.ts"

type Decompress = (bytes: Uint8Array, maxOutputLength: number) => Promise<Buffer>

const { BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH, ZSTD_e_flush } = zlib.constants
const gunzip = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip)
const inflate = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflate)
const inflateRaw = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflateRaw)
const brotli = promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress)

const gzip: Decompress = (bytes, maxOutputLength) => gunzip(bytes, { maxOutputLength, finishFlush: Z_SYNC_FLUSH })

/** The low half of the first byte is 8 in RFC 1950. Some servers send RFC 1951 by the same name. */
const deflate: Decompress = (bytes, maxOutputLength) =>
  ((bytes[0] ?? 8) & 15) === 8
    ? inflate(bytes, { maxOutputLength, finishFlush: Z_SYNC_FLUSH })
    : inflateRaw(bytes, { maxOutputLength, finishFlush: Z_SYNC_FLUSH })

/** All frames: `zlib.zstdDecompress` ends with the first. */
const zstd: Decompress = async (bytes, maxOutputLength) => {
  const chunks: Array<Buffer> = []
  let length = 0
  const frames = zlib.createZstdDecompress({ finishFlush: ZSTD_e_flush })
  await pipeline([bytes], new ZstdFrames(), frames, async (decompressed: AsyncIterable<Buffer>) => {
    for await (const chunk of decompressed) {
      length += chunk.length
      if (length > maxOutputLength) throw new RangeError("The body is too long")
      chunks.push(chunk)
    }
  })
  return Buffer.concat(chunks, length)
}

const decompressors: Readonly<Record<string, Decompress>> = {
  gzip,
  "x-gzip": gzip,
  deflate,
  br: (bytes, maxOutputLength) => brotli(bytes, { maxOutputLength, finishFlush: BROTLI_OPERATION_FLUSH }),
  zstd
}

/** Why a body cannot be had: it has more than it may, or the encoding is not known or damaged. */
export type Failed = "too-large" | "undecodable"

const isTooLarge = (error: unknown): boolean => error instanceof RangeError

export const decompress = async (
  bytes: Buffer,
  contentEncoding: string,
  maxBytes: number
): Promise<Buffer | Failed> => {
  const names = contentEncoding.split(",").map((name) => name.trim().toLowerCase())
  let result = bytes
  for (const name of names.filter((name) => name !== "" && name !== "identity").reverse()) {
    const step = Object.hasOwn(decompressors, name) ? decompressors[name] : undefined
    if (step === undefined) return "undecodable"
    if (result.length === 0) continue
    try {
      result = await step(result, maxBytes)
    } catch (error) {
      return isTooLarge(error) ? "too-large" : "undecodable"
    }
  }
  return result
}
