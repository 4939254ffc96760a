/** Texts in UTF-8. One decoder is for all: to make one takes longer than to decode most texts. */
const decoder = new TextDecoder()
const encoder = new TextEncoder()

export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)

export const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** The text of bytes that came in chunks, without a byte order mark. */
export const textOf = (chunks: ReadonlyArray<Uint8Array>): string =>
  decoder.decode(chunks.length === 1 ? chunks[0] : joined(chunks))
