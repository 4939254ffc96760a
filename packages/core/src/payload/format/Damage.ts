/** Thrown if stored bytes are not what was written. The message says which, and contains nothing of the texts. */
export class Damage extends Error {
  override readonly name = "Damage"

  /** An error of a decompressor or a reader of the format, as damage. */
  static of(error: unknown): Damage {
    if (error instanceof Damage) return error
    return new Damage(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
