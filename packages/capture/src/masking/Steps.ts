/** Work on a long text that its owner does in steps. */
export type Steps<A> = Generator<undefined, A>

/** Bytes of a text that a step reads. */
export const stepBytes = 64 * 1024

/** Does all steps at once. */
export const run = <A>(steps: Steps<A>): A => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
