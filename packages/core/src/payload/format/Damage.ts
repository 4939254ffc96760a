/** Thrown if stored bytes are not what was written. The message says which, and contains nothing of the texts. */
export class Damage extends Error {
  override readonly name = "Damage"

  /** An error of a decompressor, of a reader of the format or of a parser, as damage. */
  static of(error: unknown): Damage {
    if (error instanceof Damage) return error
    // Its message quotes the text.
    if (error instanceof SyntaxError) return new Damage("A text is not valid JSON")
    return new Damage(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** What `decompress` returns. Throws `Damage` if it throws; `what` is the subject of the message. */
export const decompressed = (what: string, decompress: () => Buffer): Buffer => {
  try {
    return decompress()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isTooLong = code === "ERR_BUFFER_TOO_LARGE"
    const reason = isTooLong ? "has more content than it should" : `cannot be decompressed: ${message}`
    throw new Damage(`${what} ${reason}`, { cause: error })
  }
}
