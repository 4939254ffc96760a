/** Decompresses copies of bodies, off the event loop. What was cut is decompressed as far as it came. */
import type { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import * as zlib from "node:zlib"
import { maxFrames, ZstdFrames } from "./ZstdFrames.ts"

const { BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH, ZSTD_e_flush } = zlib.constants

/** Undoes an encoding of a body that begins with this byte. */
type Decompressor = (first: number) => Transform

const gzip: Decompressor = () => zlib.createGunzip({ finishFlush: Z_SYNC_FLUSH })

/** The low half of the first byte is 8 in RFC 1950. Some servers send RFC 1951 by the same name. */
const deflate: Decompressor = (first) =>
  (first & 15) === 8
    ? zlib.createInflate({ finishFlush: Z_SYNC_FLUSH })
    : zlib.createInflateRaw({ finishFlush: Z_SYNC_FLUSH })

const decompressors: Readonly<Record<string, Decompressor>> = {
  gzip,
  "x-gzip": gzip,
  deflate,
  br: () => zlib.createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH }),
  zstd: () => zlib.createZstdDecompress({ finishFlush: ZSTD_e_flush })
}

/**
 * How many encodings of a body are undone. A server applies one, and a gateway before it a second. A body costs as much again with
 * each, and a header has room for thousands.
 */
const maxEncodings = 3

/** What undoing the encodings of one body takes, with what is put out in between. Each method throws where it takes too much. */
class Work {
  readonly #maxBytes: number
  #bytes = 0
  #frames = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  readonly addFrame = (): void => {
    if (++this.#frames > maxFrames) throw new RangeError("The body has too many frames")
  }

  async collect(decompressed: AsyncIterable<Buffer>): Promise<Buffer> {
    const chunks: Array<Buffer> = []
    let length = 0
    for await (const chunk of decompressed) {
      length += chunk.length
      if ((this.#bytes += chunk.length) > this.#maxBytes) throw new RangeError("The body is too long")
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, length)
  }
}

const undo = (name: string, bytes: Buffer, decompressor: Decompressor, work: Work): Promise<Buffer> => {
  const stage = decompressor(bytes[0]!)
  const collect = (decompressed: AsyncIterable<Buffer>) => work.collect(decompressed)
  return name === "zstd"
    ? pipeline([bytes], new ZstdFrames(work.addFrame), stage, collect)
    : pipeline([bytes], stage, collect)
}

/** Why a body cannot be had: it has more than it may, or its encodings are too many, not known or damaged. */
export type Failed = "too-large" | "undecodable"

const isTooLarge = (error: unknown): boolean => error instanceof RangeError

/** `maxBytes` is the limit on what all encodings put out together. */
export const decompress = async (
  bytes: Buffer,
  contentEncoding: string,
  maxBytes: number
): Promise<Buffer | Failed> => {
  const listed = contentEncoding.split(",").map((name) => name.trim().toLowerCase())
  const names = listed.filter((name) => name !== "" && name !== "identity")
  if (names.length > maxEncodings) return "undecodable"
  const work = new Work(maxBytes)
  let result = bytes
  for (const name of names.reverse()) {
    const decompressor = Object.hasOwn(decompressors, name) ? decompressors[name] : undefined
    if (decompressor === undefined) return "undecodable"
    if (result.length === 0) continue
    try {
      result = await undo(name, result, decompressor, work)
    } catch (error) {
      return isTooLarge(error) ? "too-large" : "undecodable"
    }
  }
  return result
}
