/** Writes and reads bytes and variable-length integers (LEB128): seven bits per byte, lowest first, high bit if more follow. */
import { Damage } from "./Damage.ts"

const defaultCapacityBytes = 1024

/** The scale of the eighth byte of an integer, which is its last: integers have at most 53 bits. */
const maxScale = 2 ** 49

export class ByteWriter {
  #buffer: Buffer
  length = 0

  constructor(capacityBytes = defaultCapacityBytes) {
    this.#buffer = Buffer.allocUnsafe(capacityBytes)
  }

  #reserve(bytes: number): void {
    const needed = this.length + bytes
    if (needed <= this.#buffer.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#buffer.length))
    this.#buffer.copy(grown, 0, 0, this.length)
    this.#buffer = grown
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.length++] = value
  }

  /** A whole number from 0 to 2^53 - 1. */
  integer(value: number): void {
    this.#reserve(8)
    while (value >= 0x80) {
      this.#buffer[this.length++] = (value % 0x80) | 0x80
      // Not a shift, which would truncate to 32 bits.
      value = Math.floor(value / 0x80)
    }
    this.#buffer[this.length++] = value
  }

  bytes(source: Buffer, start = 0, end = source.length): void {
    this.#reserve(end - start)
    source.copy(this.#buffer, this.length, start, end)
    this.length += end - start
  }

  /** Discards what was written, and keeps the buffer. */
  clear(): void {
    this.length = 0
  }

  /** A view of what was written, valid until the next write. */
  view(): Buffer {
    return this.#buffer.subarray(0, this.length)
  }
}

export class ByteReader {
  readonly source: Buffer
  at: number

  constructor(source: Buffer, at = 0) {
    this.source = source
    this.at = at
  }

  byte(): number {
    if (this.at >= this.source.length) throw new Damage("Unexpected end of data")
    return this.source[this.at++]!
  }

  integer(): number {
    let value = 0
    for (let scale = 1; scale <= maxScale; scale *= 0x80) {
      const byte = this.byte()
      if (byte < 0x80) return value + byte * scale
      value += (byte - 0x80) * scale
    }
    throw new Damage("An integer is too long")
  }

  skip(length: number): void {
    this.at += length
    if (this.at > this.source.length) throw new Damage("Unexpected end of data")
  }

  /** A view of the next bytes. */
  bytes(length: number): Buffer {
    const end = this.at + length
    if (end > this.source.length) throw new Damage("Unexpected end of data")
    const view = this.source.subarray(this.at, end)
    this.at = end
    return view
  }
}

/** A `Buffer` view of the same bytes. */
export const toBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
