/** Work on a text that its owner does in steps: it decides when the next one is due. Returns the result of the last step. */
export type Steps<A> = Generator<undefined, A>

/**
 * Texts of this many bytes are read in steps. `JSON.parse` takes longer per byte the longer a text is: 32 MiB of nested arrays
 * take seconds, this much some milliseconds.
 */
export const longFromBytes = 256 * 1024

/** Bytes of a text that a step reads: less than a millisecond of work for any text. */
export const stepBytes = 64 * 1024

/** Does all steps at once. */
export const run = <A>(steps: Steps<A>): A => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
