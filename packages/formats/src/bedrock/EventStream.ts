/**
 * The frames of `application/vnd.amazon.eventstream`: two lengths and their checksum, headers, a payload, and the checksum of all. What
 * follows a frame that is damaged cannot be told apart any more, and is left out.
 */

export interface Frame {
  /** Headers whose values are texts, such as `:event-type`. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Uint8Array
}

/** Of both lengths and their checksum, and of what no frame lacks: these and its checksum (bytes). */
const [preludeBytes, leastBytes] = [12, 16]

/** No frame is longer (bytes): AWS sends none of more than 16 MiB, with headers of at most 128 KiB. */
const maxBytes = 16 * 1024 * 1024 + 128 * 1024 + leastBytes

/** CRC-32 of IEEE 802.3, of each byte. */
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0xedb88320
  return crc
})

export const crc32 = (bytes: Uint8Array): number => {
  let crc = 0xffffffff
  for (const byte of bytes) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

const viewOf = ({ buffer, byteLength, byteOffset }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

const utf8 = new TextDecoder()

/** The types of values that are texts or bytes, whose lengths stand before them. */
const [ofBytes, ofText] = [6, 7]

/** How long the values of the other types are (bytes): true, false, numbers of 1, 2, 4 and 8, a time, and a UUID. */
const lengths: ReadonlyMap<number, number> = new Map([
  ...([0, 1] as const).map((type) => [type, 0] as const),
  ...([2, 3, 4, 5] as const).map((type) => [type, 2 ** (type - 2)] as const),
  ...([
    [8, 8],
    [9, 16]
  ] as const)
])

/** Undefined where they are damaged. */
const headersIn = (bytes: Uint8Array): ReadonlyMap<string, string> | undefined => {
  const headers = new Map<string, string>()
  const view = viewOf(bytes)
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + bytes[at]!
    if (nameEnd >= bytes.length) return undefined
    const name = utf8.decode(bytes.subarray(at + 1, nameEnd))
    const type = bytes[nameEnd]!
    const isCounted = type === ofBytes || type === ofText
    if (isCounted && nameEnd + 3 > bytes.length) return undefined
    const length = isCounted ? view.getUint16(nameEnd + 1) : lengths.get(type)
    const start = nameEnd + (isCounted ? 3 : 1)
    if (length === undefined || start + length > bytes.length) return undefined
    at = start + length
    if (type === ofText) headers.set(name, utf8.decode(bytes.subarray(start, at)))
  }
  return headers
}

/** The frame that these bytes are; undefined where it is damaged. */
const frameIn = (bytes: Uint8Array): Frame | undefined => {
  const view = viewOf(bytes)
  const end = bytes.length - 4
  const headersEnd = preludeBytes + view.getUint32(4)
  if (headersEnd > end || view.getUint32(end) !== crc32(bytes.subarray(0, end))) return undefined
  const headers = headersIn(bytes.subarray(preludeBytes, headersEnd))
  return headers && { headers, payload: bytes.subarray(headersEnd, end) }
}

/** Cuts a body into frames, wherever it is cut itself. */
export class EventStream {
  #pending: Array<Uint8Array> = []
  #pendingBytes = 0
  /** How many bytes there must be before there is something to read: a body in many small chunks is not joined for each. */
  #wanted = preludeBytes
  #isDamaged = false

  /** How many bytes wait for the rest of their frame. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  push(chunk: Uint8Array): ReadonlyArray<Frame> {
    if (this.#isDamaged) return []
    this.#pending.push(chunk)
    this.#pendingBytes += chunk.length
    if (this.#pendingBytes < this.#wanted) return []
    let rest = this.#joined()
    const frames: Array<Frame> = []
    for (;;) {
      const length = this.#lengthOf(rest)
      this.#wanted = length ?? preludeBytes
      if (length === undefined || rest.length < length) break
      const frame = frameIn(rest.subarray(0, length))
      if (frame === undefined) return this.#giveUp(frames)
      frames.push(frame)
      rest = rest.subarray(length)
    }
    if (this.#isDamaged) return this.#giveUp(frames)
    // The rest of a chunk must not hold all of it, nor change with it.
    this.#pending = [rest.slice()]
    this.#pendingBytes = rest.length
    return frames
  }

  #joined(): Uint8Array {
    if (this.#pending.length === 1) return this.#pending[0]!
    const bytes = new Uint8Array(this.#pendingBytes)
    let at = 0
    for (const chunk of this.#pending) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    return bytes
  }

  /** The length of the frame that begins here; undefined where it has not come, or none begins. */
  #lengthOf(bytes: Uint8Array): number | undefined {
    if (bytes.length < preludeBytes) return undefined
    const view = viewOf(bytes)
    const length = view.getUint32(0)
    if (view.getUint32(8) === crc32(bytes.subarray(0, 8)) && length >= leastBytes && length <= maxBytes) return length
    this.#isDamaged = true
    return undefined
  }

  #giveUp(frames: ReadonlyArray<Frame>): ReadonlyArray<Frame> {
    this.#isDamaged = true
    this.#pending = []
    this.#pendingBytes = 0
    return frames
  }
}
