/**
 * Large texts that a project keeps once, whichever of its sessions they stand in, under the SHA-256 of their UTF-8. Stored
 * as one byte that says how it is compressed, and the text: 1, raw deflate with `vocabulary` as its dictionary; 2, a frame
 * of zstd.
 */
import { deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { toBuffer } from "./Bytes.ts"
import { dictionary } from "./Dictionary.ts"

const deflated = 1
const zstd = 2

/** From here on zstd is the faster one, and as small. In bytes. */
const zstdFrom = 8 * 1024

export interface SharedPiece {
  readonly sha256: Buffer
  /** Bytes of its text. */
  readonly size: number
  /** What is stored; compressed when it is first asked for, because most often it is there already. */
  readonly bytes: () => Buffer
}

const compress = (text: Buffer): Buffer =>
  text.length < zstdFrom
    ? Buffer.concat([Buffer.of(deflated), deflateRawSync(text, { dictionary: dictionary })])
    : Buffer.concat([Buffer.of(zstd), zstdCompressSync(text)])

export const make = (sha256: Buffer, text: Buffer): SharedPiece => {
  let bytes: Buffer | undefined
  return { sha256, size: text.length, bytes: () => (bytes ??= compress(text)) }
}

export const textOf = (stored: Uint8Array): Buffer => {
  const bytes = toBuffer(stored)
  switch (bytes[0]) {
    case deflated:
      return inflateRawSync(bytes.subarray(1), { dictionary: dictionary })
    case zstd:
      return zstdDecompressSync(bytes.subarray(1))
    default:
      throw new Error(`A shared piece of format ${bytes[0]}: expected ${deflated} or ${zstd}. Is this store newer?`)
  }
}
