/** The errors of the proxy itself. What an upstream answers passes as it is. */
import { hint } from "@tachograph/capture/Spelling"
import * as Answer from "../response/Answer.ts"

/** SDKs of providers look for the message in `error`. */
const refuse = (
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {}
): Answer.Answer => Answer.refuse(status, type, headers, { message, error: { type, message } })

export const badPath = refuse(
  400,
  "bad-request",
  "The path has . or .. as a segment or begins with //, or path or query hold what a URL does not: a backslash, #, a blank or a control."
)

export const ambiguous = Answer.closing(
  refuse(400, "bad-request", "Two readers could understand the headers of the request differently.")
)

export const unauthorized = refuse(
  401,
  "unauthorized",
  "X-Tachograph-Key holds no valid API key of Tachograph: it is the key alone, without Bearer."
)

export const keyMissing = refuse(
  401,
  "unauthorized",
  "X-Tachograph-Key is missing. Send an API key of Tachograph in it, or start with --proxy-open for programs on this machine."
)

/** The answer of an open proxy. `reason` completes the sentence. */
export const notLocal = (reason: string): Answer.Answer =>
  refuse(
    401,
    "unauthorized",
    `X-Tachograph-Key is missing. Without a key, the proxy is open only to programs on this machine that call it directly: ${reason}.`
  )

export const forbidden = refuse(403, "forbidden", "The API key of Tachograph does not have the scope record.")

export const upstreamNotFound = (name: string, names: ReadonlyArray<string>): Answer.Answer =>
  refuse(
    404,
    "upstream-not-found",
    `The path names no upstream that is configured, as /proxy/NAME/… does: there are ${names.join(", ")}${hint(name, names)}.`
  )

export const bodyParsed = refuse(
  500,
  "body-parsed",
  "The host read the body before the proxy, and did not keep its bytes: mount Tachograph before parsers of bodies."
)

/** Clients that can do without a WebSocket take 426 for the sign to do so at once, and try again after other errors. */
export const upgradeRefused = refuse(
  426,
  "upgrade-unsupported",
  "WebSockets are not passed on here. Make the same call over HTTP, by POST to the same path.",
  // RFC 9110, section 15.5.22: the protocol to use instead.
  { upgrade: "HTTP/1.1", connection: "upgrade" }
)

export const upstreamUnreachable = refuse(
  502,
  "upstream-unreachable",
  "The upstream could not be reached, or closed the connection: the log of the server has its name and the code of the error."
)

export const closing = refuse(503, "closing", "The proxy is ending.")

export const upstreamTimeout = refuse(504, "upstream-timeout", "The upstream did not answer in time.")
