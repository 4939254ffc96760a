/** Reads the frames of one direction of a WebSocket while their bytes pass (RFC 6455, section 5.2). */

export interface Frame {
  readonly isFinal: boolean
  /** The three bits that only extensions use. */
  readonly reserved: number
  readonly opcode: number
  readonly isMasked: boolean
  readonly length: number
}

export interface FrameVisitor {
  readonly begin: (frame: Frame) => void
  /** Some of the payload, without its mask. A view of the chunk where it has none. */
  readonly payload: (bytes: Buffer) => void
  readonly end: () => void
}

/** The longest header: two bytes, a length of eight, a mask of four. */
const maxHeaderBytes = 14

const maskBytes = 4

/** How many bytes a length takes that does not fit into the seven bits for it. */
const lengthBytes: Readonly<Record<number, number>> = { 126: 2, 127: 8 }

export class FrameReader {
  readonly #visitor: FrameVisitor
  readonly #header = Buffer.alloc(maxHeaderBytes)
  #headerLength = 0
  /** Bytes of the payload that are still to come; undefined in a header. */
  #left: number | undefined
  /** How much of the payload has come, which says where in the mask it goes on. */
  #at = 0
  #isMasked = false

  constructor(visitor: FrameVisitor) {
    this.#visitor = visitor
  }

  /** Whether the last frame has come whole, so that another one may follow. */
  get isBetweenFrames(): boolean {
    return this.#left === undefined && this.#headerLength === 0
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#left === undefined) {
        this.#header[this.#headerLength++] = chunk[at++]!
        if (this.#headerLength === this.#headerBytes()) this.#begin()
      } else {
        const end = Math.min(chunk.length, at + this.#left)
        this.#payload(chunk.subarray(at, end))
        at = end
      }
    }
  }

  /** As far as it is known: 2 before the length is. */
  #headerBytes(): number {
    if (this.#headerLength < 2) return 2
    const second = this.#header[1]!
    return 2 + (lengthBytes[second & 127] ?? 0) + (second < 128 ? 0 : maskBytes)
  }

  #begin(): void {
    const [first, second] = [this.#header[0]!, this.#header[1]!]
    this.#isMasked = second >= 128
    this.#left = this.#lengthIn(second & 127)
    this.#at = 0
    this.#visitor.begin({
      isFinal: first >= 128,
      reserved: (first >> 4) & 7,
      opcode: first & 15,
      isMasked: this.#isMasked,
      length: this.#left
    })
    if (this.#left === 0) this.#end()
  }

  #lengthIn(short: number): number {
    if (short === 126) return this.#header.readUInt16BE(2)
    return short === 127 ? Number(this.#header.readBigUInt64BE(2)) : short
  }

  #payload(bytes: Buffer): void {
    this.#left! -= bytes.length
    this.#visitor.payload(this.#isMasked ? this.#unmasked(bytes) : bytes)
    this.#at += bytes.length
    if (this.#left === 0) this.#end()
  }

  /** A copy: the bytes themselves are still to pass. */
  #unmasked(bytes: Buffer): Buffer {
    const mask = this.#header.subarray(this.#headerLength - maskBytes, this.#headerLength)
    const plain = Buffer.allocUnsafeSlow(bytes.length)
    for (let at = 0; at < bytes.length; at++) plain[at] = bytes[at]! ^ mask[(this.#at + at) & 3]!
    return plain
  }

  #end(): void {
    this.#left = undefined
    this.#headerLength = 0
    this.#visitor.end()
  }
}

/** The frame that closes a connection for a reason that a code says; of a client, with a mask that changes nothing. */
export const closing = (code: number, isOfClient: boolean): Buffer => {
  const mask = isOfClient ? Buffer.alloc(maskBytes) : Buffer.alloc(0)
  const payload = Buffer.alloc(2)
  payload.writeUInt16BE(code)
  return Buffer.concat([Buffer.from([0x88, isOfClient ? 0x82 : 0x02]), mask, payload])
}
