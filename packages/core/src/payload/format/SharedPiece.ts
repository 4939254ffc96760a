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

/** The largest buffer that the header of a frame allocates (bytes), because it may be damaged. */
const maxChunkBytes = 64 * 1024 * 1024

/** Bytes of the fields of a frame's header, by the bits of its descriptor (RFC 8878, section 3.1.1.1). */
const dictionaryIdBytes = [0, 1, 2, 4]
const contentSizeBytes = [0, 2, 4, 8]

/** How many bytes a zstd frame contains. Undefined if its header does not say. */
const contentBytesOf = (frame: Buffer): number | undefined => {
  const descriptor = frame[4] ?? 0
  const isSingleSegment = (descriptor & 0x20) !== 0
  const bytes = contentSizeBytes[descriptor >>> 6]! || (isSingleSegment ? 1 : 0)
  const at = 5 + (isSingleSegment ? 0 : 1) + dictionaryIdBytes[descriptor & 3]!
  if (bytes === 0 || frame.length < at + bytes) return undefined
  if (bytes === 8) return Number(frame.readBigUInt64LE(at))
  return frame.readUIntLE(at, bytes) + (bytes === 2 ? 256 : 0)
}

/**
 * One chunk, because several would be copied into one. A frame of unknown size has few: a text is rarely twice as compressible.
 */
const chunkBytes = (frame: Buffer, maxBytes: number): number => {
  const bytes = contentBytesOf(frame) ?? Math.max(zstdFromBytes, 2 * frame.length)
  return Math.min(bytes, maxBytes, maxChunkBytes) + 64
}

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
      : zstdDecompressSync(compressed, { ...options, chunkSize: chunkBytes(compressed, maxBytes) })
  )
}

/** CRC-32 of a piece as stored, signed. Tells without decompressing it whether it is damaged. */
export const checksumOf = (stored: Uint8Array): number => crc32(stored) | 0

/** Whether a text is the one that the piece is named after. */
export const isNamed = (sha256: Uint8Array, text: Buffer): boolean => hash("sha256", text, "buffer").equals(sha256)
