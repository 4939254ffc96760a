/**
 * Large texts that a project keeps once, whichever of its sessions they stand in, under the SHA-256 of their UTF-8. Stored
 * as one byte for the format, which is 1, and a frame of zstd.
 */
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { toBuffer } from "./Bytes.ts"

const format = 1

export interface SharedPiece {
  readonly sha256: Buffer
  /** Bytes of its text. */
  readonly size: number
  /** What is stored; compressed when it is first asked for, because most often it is there already. */
  readonly bytes: () => Buffer
}

export const make = (sha256: Buffer, text: Buffer): SharedPiece => {
  let bytes: Buffer | undefined
  return {
    sha256,
    size: text.length,
    bytes: () => (bytes ??= Buffer.concat([Buffer.of(format), zstdCompressSync(text)]))
  }
}

export const textOf = (stored: Uint8Array): Buffer => {
  const bytes = toBuffer(stored)
  if (bytes[0] !== format) {
    throw new Error(`A shared piece of format ${bytes[0]}: expected ${format}. Is this store newer?`)
  }
  return zstdDecompressSync(bytes.subarray(1))
}
