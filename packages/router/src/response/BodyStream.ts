/** A body that is made while its client takes it: neither side of it holds more than a few pieces. */
import type * as Context from "effect/Context"
import * as Stream from "effect/Stream"

/** Largest piece (bytes): as much as Node buffers of a response before it asks to wait. */
export const pieceBytes = 64 * 1024

export interface BodyStream {
  /**
   * The next piece: at most `pieceBytes`, and alone in its memory, so that it can be transferred. Undefined after the last one.
   * Rejects if the rest cannot be made: then the body is cut, and must not end as a whole one does. It is not called again before it
   * has settled.
   */
  readonly next: () => Promise<Uint8Array | undefined>
  /** No more is taken: ends the work, and settles a `next` that waits. Idempotent. */
  readonly cancel: () => void
}

/** The body was given up by its client, by the end of the server, or by that of the thread that makes it. */
export class BodyCut extends Error {
  constructor(options?: ErrorOptions) {
    super("The body of the answer is cut", options)
  }
}

const utf8 = new TextEncoder()

/** Cuts a part where it is too long for a piece. */
function* piecesOf(part: string | Uint8Array): Generator<Uint8Array> {
  const bytes = typeof part === "string" ? utf8.encode(part) : part
  if (bytes.length <= pieceBytes && bytes.byteLength === bytes.buffer.byteLength) {
    if (bytes.length > 0) yield bytes
    return
  }
  for (let at = 0; at < bytes.length; at += pieceBytes) yield Uint8Array.from(bytes.subarray(at, at + pieceBytes))
}

/** Hands out what an iterator has, in pieces. `take` is its `next`, and `end` ends its work. */
export const ofParts = (
  take: () => Promise<IteratorResult<string | Uint8Array, unknown>>,
  end: () => void
): BodyStream => {
  let pieces: Iterator<Uint8Array> = [][Symbol.iterator]()
  let isCancelled = false
  return {
    next: async () => {
      for (;;) {
        if (isCancelled) throw new BodyCut()
        const piece = pieces.next()
        if (piece.done !== true) return piece.value
        const part = await take()
        if (isCancelled) throw new BodyCut()
        if (part.done === true) return undefined
        pieces = piecesOf(part.value)
      }
    },
    cancel: () => {
      if (isCancelled) return
      isCancelled = true
      end()
    }
  }
}

/**
 * Runs a stream of texts and bytes as its pieces are asked for. Each element is handed over at once: a stream of many short lines
 * joins them itself. `onCut` is told why the stream failed; not if it was cancelled.
 */
export const ofStream = <R>(
  stream: Stream.Stream<string | Uint8Array, unknown, R>,
  context: Context.Context<R>,
  onCut: (error: unknown) => void
): BodyStream => {
  const parts = Stream.toAsyncIterableWith(stream, context)[Symbol.asyncIterator]()
  let isCancelled = false
  const take = async () => {
    try {
      return await parts.next()
    } catch (error) {
      if (!isCancelled) onCut(error)
      throw new BodyCut({ cause: error })
    }
  }
  return ofParts(take, () => {
    isCancelled = true
    // It is interrupted, which is no error.
    parts.return?.().catch(() => {})
  })
}
