/**
 * Large texts that a project stores once for all of its sessions, named by the SHA-256 of their UTF-8. A stored piece is one
 * byte for the compression, followed by the compressed text. 1: raw deflate with the preset `dictionary`. 2: a zstd frame.
 */
import { hash } from "node:crypto"
import { crc32, deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { toBuffer } from "./Bytes.ts"
import { Damage, decompressed } from "./Damage.ts"
import { dictionary } from "./Dictionary.ts"

const deflated = 1
const zstd = 2

/** The largest buffer that Node makes on every platform. */
const maxTextBytes = 2 ** 31 - 1

/** From this size on, zstd is faster than deflate and compresses as well. */
const zstdFromBytes = 8 * 1024

export interface SharedPiece {
  readonly sha256: Buffer
  /** Size of its text in bytes. */
  readonly size: number
  /** The stored form. Compressed on the first call, because usually the storage has the piece already. */
  readonly bytes: () => Buffer
}

const compress = (text: Buffer): Buffer =>
  text.length < zstdFromBytes
    ? Buffer.concat([Buffer.of(deflated), deflateRawSync(text, { dictionary, chunkSize: Math.max(64, text.length) })])
    : Buffer.concat([Buffer.of(zstd), zstdCompressSync(text)])

export const make = (sha256: Buffer, text: Buffer): SharedPiece => {
  let bytes: Buffer | undefined
  return { sha256, size: text.length, bytes: () => (bytes ??= compress(text)) }
}

/** Few chunks, because they are copied into one: the size of the text is not stored. A text is rarely twice as compressible. */
const chunkBytes = (storedBytes: number, maxBytes: number): number =>
  Math.min(Math.max(zstdFromBytes, 2 * storedBytes), maxBytes) + 64

/** Throws `Damage` if it cannot be decompressed to at most `maxBytes`. */
export const textOf = (stored: Uint8Array, maxBytes = maxTextBytes): Buffer => {
  const bytes = toBuffer(stored)
  const format = bytes[0]
  if (format !== deflated && format !== zstd) {
    throw new Damage(
      `A shared piece has format ${format} instead of ${deflated} or ${zstd}: a newer version may have written it`
    )
  }
  const compressed = bytes.subarray(1)
  const options = { maxOutputLength: Math.max(1, maxBytes) }
  return decompressed("A shared piece", () =>
    format === deflated
      ? inflateRawSync(compressed, { ...options, dictionary })
      : zstdDecompressSync(compressed, { ...options, chunkSize: chunkBytes(bytes.length, maxBytes) })
  )
}

/** CRC-32 of a piece as stored, signed. Tells without decompressing it whether it is damaged. */
export const checksumOf = (stored: Uint8Array): number => crc32(stored) | 0

/** Whether a text is the one that the piece is named after. */
export const isNamed = (sha256: Uint8Array, text: Buffer): boolean => hash("sha256", text, "buffer").equals(sha256)
