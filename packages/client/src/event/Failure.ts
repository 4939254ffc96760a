/** The output of a call whose answer is no JSON object: an error in the shape that the formats read as one. */

export interface Failure {
  readonly error: {
    readonly type: string
    readonly message: string
    /** The body, where the provider answered something else than JSON. */
    readonly body?: string
  }
}

/** Why an answer is not whole. */
export type Interruption =
  /** The application ended it by its `AbortSignal`. */
  | "aborted"
  /** The time that the application allows is over. */
  | "timeout"
  /** The connection broke. */
  | "connection_error"
  /** The application stopped reading. */
  | "cancelled"
  /** The application did not read on for as long as the recorder waits, or let go of the response. */
  | "unread"
  /** The stream ended without its last event. */
  | "cut"

const sentences: Readonly<Record<Interruption, string>> = {
  aborted: "The application aborted the call.",
  timeout: "The call took longer than the application allows.",
  connection_error: "The connection failed.",
  cancelled: "The application did not read the answer to its end.",
  unread: "The application did not read the answer to its end.",
  cut: "The stream ended before its last event."
}

const nameOf = (error: unknown): unknown => (error as { readonly name?: unknown } | null | undefined)?.name

/** What an error of `fetch` or of a body means. */
export const interruptionOf = (error: unknown, isAborted: boolean): Interruption => {
  if (nameOf(error) === "TimeoutError") return "timeout"
  return isAborted || nameOf(error) === "AbortError" ? "aborted" : "connection_error"
}

const causes = (error: unknown): ReadonlyArray<string> => {
  const messages: Array<string> = []
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) messages.push(at.message)
  return messages.filter((message) => message !== "")
}

export const failureOf = (interruption: Interruption, error?: unknown): Failure => {
  const said = interruption === "connection_error" ? causes(error) : []
  return { error: { type: interruption, message: said.length > 0 ? said.join(": ") : sentences[interruption] } }
}

/** A body that is no JSON object, with the status of its response. */
export const failureOfBody = (status: number, body: string): Failure => ({
  error: {
    type: `http_${status}`,
    message: `The provider answered ${status} with something else than a JSON object.`,
    body
  }
})
