/** Small chunks that come in a burst are read together, which leaves the processor to whom they are for. */
import type { IncomingMessage } from "node:http"

/** How long chunks gather at least (ms). A chunk that comes as long after the one before it passes at once. */
const gatherMs = 1

/** A chunk of this size (bytes) or more is worth a read of its own. */
const largeBytes = 4096

/** Reads an answer whose chunks follow each other within less than a millisecond once a millisecond, and any other as it comes. */
export const gather = (answer: IncomingMessage): void => {
  const { socket } = answer
  let readAtMs = -Infinity
  let isPausing = false

  const hasMore = () => !answer.complete && !socket.destroyed
  const resume = () => {
    isPausing = false
    readAtMs = performance.now()
    // After its end, the connection may serve another request.
    if (hasMore()) socket.resume()
  }
  const pause = () => {
    if (!hasMore()) return
    socket.pause()
    setTimeout(resume, gatherMs)
  }

  answer.on("data", ({ length }: Buffer) => {
    if (isPausing || length >= largeBytes) return
    const nowMs = performance.now()
    isPausing = nowMs - readAtMs < gatherMs
    readAtMs = nowMs
    // What was read with this chunk passes first: it may be the end.
    if (isPausing) setImmediate(pause)
  })
}
