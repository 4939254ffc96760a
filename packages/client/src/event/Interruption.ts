/** Why an answer is not whole, from what `fetch` or a body threw. */
import { type Failure, failureOf, type Interruption } from "@tachograph/capture/Failures"

const nameOf = (error: unknown): unknown => (error as { readonly name?: unknown } | null | undefined)?.name

export const interruptionOf = (error: unknown, isAborted: boolean): Interruption => {
  if (nameOf(error) === "TimeoutError") return "timeout"
  return isAborted || nameOf(error) === "AbortError" ? "aborted" : "connection_error"
}

const causes = (error: unknown): ReadonlyArray<string> => {
  const messages: Array<string> = []
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) messages.push(at.message)
  return messages.filter((message) => message !== "")
}

/** With the words of the error, where the connection failed. `body` is what came of the answer. */
export const failureOfError = (interruption: Interruption, error: unknown, body = ""): Failure => {
  const said = interruption === "connection_error" ? causes(error) : []
  return failureOf(interruption, body, said.length > 0 ? said.join(": ") : undefined)
}
