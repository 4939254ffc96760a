/** The output of a call whose answer is missing, broken off or no JSON object: an error in the shape that `errorOf` reads. */
import type { Accumulated, JsonObject } from "@tachograph/formats/Format"
import { isEmpty } from "@tachograph/formats/json/Read"

/** Why an answer is not whole. */
export type Interruption =
  /** The application ended it. */
  | "aborted"
  /** The time for it is over. */
  | "timeout"
  /** The connection broke, or was never made. */
  | "connection_error"
  /** The application stopped reading. */
  | "cancelled"
  /** The application did not read on for as long as the recorder waits, or let go of the response. */
  | "unread"
  /** The process of the application ended. */
  | "exit"
  /** The stream ended without its last event. */
  | "cut"

export interface Failure {
  readonly error: {
    /** An `Interruption`, `content_encoding`, or `http_` and a status. */
    readonly type: string
    readonly message: string
    /** What came, where it is no JSON object. */
    readonly body?: string
  }
}

const sentences: Readonly<Record<Interruption, string>> = {
  aborted: "The application ended the call.",
  timeout: "The call took too long.",
  connection_error: "The connection failed.",
  cancelled: "The application did not read the answer to its end.",
  unread: "The application did not read the answer to its end.",
  exit: "The process ended during the call.",
  cut: "The stream ended before its last event."
}

/** `body` is what came of the answer. */
export const failureOf = (interruption: Interruption, body = "", message = sentences[interruption]): Failure => ({
  error: { type: interruption, message, ...(body === "" ? {} : { body }) }
})

/** The failure of a body that cannot be decompressed. */
export const failureOfEncoding = (contentEncoding: string): Failure => ({
  error: {
    type: "content_encoding",
    message: `The answer could not be decompressed: its content encoding is ${contentEncoding}.`
  }
})

/** The failure of a whole body that is no JSON object. */
export const failureOfBody = (status: number, body: string): Failure => ({
  error: {
    type: `http_${status}`,
    message: `The provider answered ${status} with something else than a JSON object.`,
    body
  }
})

/** What the application does itself: an answer whose text is whole by then is the one that it has. */
const ofApplication: ReadonlySet<Interruption> = new Set(["aborted", "cancelled", "unread"])

/**
 * Whether an answer is broken although its text is whole: it was to go on, and the application got an error in its place. A stream says
 * itself where it ends, and its events were taken before: with its last one it is whole, whatever the connection does then.
 */
export const isBroken = (interruption: Interruption | undefined): interruption is Interruption =>
  interruption !== undefined && !ofApplication.has(interruption)

/**
 * The JSON text of an answer that is not whole, with the error behind what came. An error of the provider's own stays alone; an `error`
 * without content, such as `null`, stands before it in the text, and counts for nothing: of two keys the last one counts.
 */
export const withFailure = (written: string, output: JsonObject, failure: Failure): string => {
  if (!isEmpty(output["error"])) return written
  const added = JSON.stringify(failure).slice(1)
  return Object.keys(output).length === 0 ? `{${added}` : `${written.trimEnd().slice(0, -1)},${added}`
}

/** The JSON text that a stream stands for, with `failure` where it was cut. */
export const outputOf = ({ ended, output, text }: Accumulated, failure: Failure): string => {
  if (ended !== "cut") return text ?? JSON.stringify(output)
  const { error, ...rest } = output
  const said = isEmpty(error) ? rest : output
  return withFailure(text ?? JSON.stringify(said), text === null ? said : output, failure)
}
