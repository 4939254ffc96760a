/** How long a client may take nothing of an answer. */
import * as Context from "effect/Context"

/** The default of `AnswerTimeoutMs`. */
export const defaultAnswerTimeoutMs = 15_000

/** How long a client may take nothing of a large answer, until its connection is closed (ms). */
export const AnswerTimeoutMs = Context.Reference<number>("tachograph/router/AnswerTimeoutMs", {
  defaultValue: () => defaultAnswerTimeoutMs
})

/** Thrown by what hands out an answer in pieces, after the timeout. */
export class AnswerTimeout extends Error {
  constructor() {
    super("The client took nothing of the answer for too long")
  }
}
