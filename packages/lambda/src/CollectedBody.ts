/** A function's result is one value, so the body of an answer that is made while it is taken is collected, within bounds. */

/** The bounds on a body that is collected. */
export interface Bounds {
  /** Less than the 6 MB of a result: it becomes a JSON string, in which quotes are escaped. */
  readonly maxBytes: number
  /** Less than the 29 s after which API Gateway gives up. */
  readonly maxMs: number
}

const defaultBounds: Bounds = { maxBytes: 4 * 1024 * 1024, maxMs: 20_000 }

/** Undefined if it is larger, or takes longer, than the bounds. Rejects if the body is cut. */
export const collect = async (
  body: ReadableStream<Uint8Array>,
  { maxBytes, maxMs }: Bounds = defaultBounds
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const reader = body.getReader()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void reader.cancel()
  }, maxMs)
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  try {
    for (let read = await reader.read(); read.done !== true; read = await reader.read()) {
      bytes += read.value.length
      if (bytes > maxBytes) {
        await reader.cancel()
        return undefined
      }
      chunks.push(read.value)
    }
    return isLate ? undefined : Buffer.concat(chunks)
  } finally {
    clearTimeout(timer)
  }
}
