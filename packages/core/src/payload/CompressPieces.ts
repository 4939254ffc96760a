/** Compresses shared pieces for a storage. */
import * as Effect from "effect/Effect"
import type { SharedPiece } from "./format/SharedPiece.ts"

/** How long pieces are compressed before the event loop turns (ms). An event may bring 32,000 of them: seconds of work. */
const sliceMs = 2

/** Afterwards `bytes` of each piece returns at once. */
export const compressPieces = Effect.fnUntraced(function* (pieces: Iterable<SharedPiece>): Effect.fn.Return<void> {
  let sliceStartedMs = performance.now()
  for (const piece of pieces) {
    piece.bytes()
    if (performance.now() - sliceStartedMs < sliceMs) continue
    yield* Effect.yieldNow
    sliceStartedMs = performance.now()
  }
})
