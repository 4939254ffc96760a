/**
 * Cuts a zstd stream at the ends of its frames (RFC 8878, section 3.1), so that each of its chunks is of one frame. Node's
 * decompressor ignores what follows the end of a frame in the same chunk: what a stream of several frames is decompressed to
 * would depend on how it is divided into chunks.
 */
import { Transform, type TransformCallback } from "node:stream"

/** What follows in the stream: a little-endian number, bytes that are skipped, or another frame. */
type Expected = { readonly read: number } | { readonly skip: number } | "frame"

const frameMagic = 0xfd2fb528

/** The last 4 bits are free. */
const skippableMagic = 0x184d2a50

/** By the flags in the descriptor of a frame's header. */
const dictionaryIdBytes = [0, 1, 2, 4]
const contentSizeBytes = [0, 2, 4, 8]

const rleBlock = 1

const headerBytesAfter = (descriptor: number): number => {
  const isSingleSegment = (descriptor & 0x20) !== 0
  const contentSize = contentSizeBytes[descriptor >>> 6]!
  return (
    (isSingleSegment ? 0 : 1) +
    dictionaryIdBytes[descriptor & 3]! +
    (isSingleSegment && contentSize === 0 ? 1 : contentSize)
  )
}

/** Follows the structure of a stream. Each number that it asks for is passed to `next`. */
function* structure(): Generator<Expected, never, number> {
  for (;;) {
    const magic = yield { read: 4 }
    if (magic - (magic % 16) === skippableMagic) {
      yield { skip: yield { read: 4 } }
    } else if (magic === frameMagic) {
      const descriptor = yield { read: 1 }
      yield { skip: headerBytesAfter(descriptor) }
      let block: number
      do {
        block = yield { read: 3 }
        yield { skip: ((block >>> 1) & 3) === rleBlock ? 1 : block >>> 3 }
      } while ((block & 1) === 0)
      yield { skip: (descriptor & 4) === 0 ? 0 : 4 }
    } else {
      throw new Error("What follows a frame is no frame")
    }
    yield "frame"
  }
}

/**
 * How many frames a body may have, with all its encodings. Each takes as long as some kilobytes that are put out, and an empty one takes
 * 9 bytes. What writes a frame for each event of a stream writes some thousands.
 */
export const maxFrames = 32 * 1024

export class ZstdFrames extends Transform {
  readonly #structure = structure()
  #expected = this.#structure.next().value
  /** Bytes that were read or skipped of what is expected, and the number that they are. */
  #bytes = 0
  #number = 0
  readonly #onFrame: () => void

  /** `onFrame` is called at the end of each frame. An error that it throws ends the stream. */
  constructor(onFrame = () => {}) {
    super()
    this.#onFrame = onFrame
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      let start = 0
      let at = 0
      for (;;) {
        at = this.#take(chunk, at)
        const expected = this.#expected
        if (expected === "frame") {
          this.#onFrame()
          if (at > start) this.push(chunk.subarray(start, at))
          start = at
          this.#expect()
        } else if (at === chunk.length) {
          break
        }
      }
      if (at > start) this.push(chunk.subarray(start))
      done()
    } catch (error) {
      done(error as Error)
    }
  }

  #expect(): void {
    this.#expected = this.#structure.next(this.#number).value
    this.#bytes = 0
    this.#number = 0
  }

  /** Takes bytes of the chunk up to its end, or up to the end of a frame. Returns the offset after them. */
  #take(chunk: Buffer, at: number): number {
    for (;;) {
      const expected = this.#expected
      if (expected === "frame") return at
      if ("skip" in expected) {
        const end = Math.min(chunk.length, at + expected.skip - this.#bytes)
        this.#bytes += end - at
        at = end
        if (this.#bytes < expected.skip) return at
      } else {
        while (this.#bytes < expected.read) {
          if (at === chunk.length) return at
          this.#number += chunk[at++]! * 2 ** (8 * this.#bytes++)
        }
      }
      this.#expect()
    }
  }
}
