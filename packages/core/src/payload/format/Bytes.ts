/** Writes and reads bytes with variable-length integers: seven bits a byte, the lowest first, the high bit for "more follows". */

const firstCapacity = 1024

export class ByteWriter {
  #buffer: Buffer
  length = 0

  constructor(capacity = firstCapacity) {
    this.#buffer = Buffer.allocUnsafe(capacity)
  }

  #reserve(more: number): void {
    const needed = this.length + more
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
      // Shifts would cut at 32 bits.
      value = Math.floor(value / 0x80)
    }
    this.#buffer[this.length++] = value
  }

  bytes(source: Buffer, start = 0, end = source.length): void {
    this.#reserve(end - start)
    source.copy(this.#buffer, this.length, start, end)
    this.length += end - start
  }

  /** Forgets what was written, and keeps the memory. */
  clear(): void {
    this.length = 0
  }

  /** What was written: a view, valid until more is written. */
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
    if (this.at >= this.source.length) throw new Error("The bytes end early")
    return this.source[this.at++]!
  }

  integer(): number {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.byte()
      if (byte < 0x80) return value + byte * scale
      value += (byte - 0x80) * scale
    }
  }

  skip(length: number): void {
    this.at += length
    if (this.at > this.source.length) throw new Error("The bytes end early")
  }

  /** A view of the next bytes. */
  bytes(length: number): Buffer {
    const end = this.at + length
    if (end > this.source.length) throw new Error("The bytes end early")
    const found = this.source.subarray(this.at, end)
    this.at = end
    return found
  }
}

/** The same bytes as a `Buffer`, whose methods reach native code. */
export const toBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
