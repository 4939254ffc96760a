/** Passes a request of `node:http` on to its upstream, and the response back, each as it comes. */
import type { ClientRequest, IncomingMessage, OutgoingMessage, ServerResponse } from "node:http"
import * as ParsedBody from "../front/ParsedBody.ts"
import { hasSentContinue } from "../mounts/Node.ts"
import * as Bursts from "./Bursts.ts"
import type { Followed } from "./Followed.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"
import { AnswerNotUnderstood, endingOf, isUnderstood, type UpstreamClient } from "./UpstreamClient.ts"

export interface NodeRequest extends Followed {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** Called once if the upstream fails, or cannot be reached, before its response has begun: the response is the caller's. */
  readonly onUnanswered: (error: Error) => void
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || !/^0*$/.test(headers["content-length"] ?? "")

/** Whether the host has read the body, or made a text of it, and left no bytes of it as they were sent. */
export const hasLostBody = (message: IncomingMessage): boolean =>
  hasBody(message) && (message.readableEncoding !== null || ParsedBody.find(message)?.exact === false)

/** The body that a parser of the host has read, with headers that describe it; undefined where it is still to come. */
const parsedBodyOf = (message: IncomingMessage) => {
  const parsed = hasBody(message) ? ParsedBody.find(message) : undefined
  if (parsed === undefined) return undefined
  const { bytes } = parsed
  const headers: Array<string> = []
  const { rawHeaders } = message
  for (let at = 0; at < rawHeaders.length; at += 2) {
    // Parsers decompress.
    if (/^content-(?:length|encoding)$/i.test(rawHeaders[at]!)) continue
    headers.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  }
  if (bytes.length > 0) headers.push("Content-Length", String(bytes.length))
  return { bytes, headers }
}

/** Returns a function that ends it early, for the reason that the error says. */
export const pass = (client: UpstreamClient, request: NodeRequest): ((reason: Error) => void) => {
  const { copies, destination, message, onEnd, onUnanswered, response } = request
  const method = message.method!
  const parsed = parsedBodyOf(message)
  const isChunked = parsed === undefined && message.headers["transfer-encoding"] !== undefined
  const headers = ForwardedHeaders.framed(method, parsed?.headers ?? message.rawHeaders, isChunked)
  let sent: ClientRequest | undefined
  let failure: Error | undefined
  let hasResponse = false

  const end = () => {
    sent?.destroy()
    const isWhole = failure === undefined && response.writableFinished
    onEnd(isWhole ? undefined : endingOf(failure), hasResponse)
  }
  /** An application that has its answer may still send the rest of its request, which is part of the record. */
  const endOnceRead = () => {
    if (copies === undefined || !response.writableFinished || message.readableEnded || message.destroyed) return end()
    sent?.destroy()
    const { socket } = message
    const finish = () => {
      socket.off("close", finish)
      message.off("close", finish)
      end()
    }
    message.once("close", finish)
    // Node tells a request whose response is written nothing of the end of its connection.
    socket.once("close", finish)
  }
  // The upstream may answer before it has the whole request. The rest is discarded, so that the connection stays usable.
  response.once("finish", () => void message.unpipe(sent).resume())
  response.once("close", endOnceRead)
  const fail = (error: Error) => {
    // Once the response has come, the upstream need not take the rest of the request.
    if (hasResponse || failure !== undefined || response.destroyed) return
    failure = error
    onUnanswered(error)
  }
  const cut = (reason: Error) => {
    fail(reason)
    if (hasResponse && !response.writableFinished) {
      failure ??= reason
      response.destroy()
    }
    // The connection closes later, or is not closed at all.
    end()
  }
  try {
    sent = client.begin({ ...destination, method, headers })
  } catch (error) {
    // A host's server may have a lenient parser, which takes headers that cannot be sent.
    fail(error as Error)
    return cut
  }
  let received: IncomingMessage | undefined
  const breakOff = (error: Error) => {
    failure ??= error
    // What came in one packet with what ends it passes first: Node tells of the error before it hands out the body.
    setImmediate(() => response.destroy())
  }
  sent.on("error", (error) => {
    // Node takes an answer that only the end of the connection ends for whole, however that ends.
    if (received?.complete === false) breakOff(error)
    else fail(error)
  })
  // A change of the protocol closes the request without an error.
  sent.once("close", () => {
    // Most have one. The error, with its stack, would be made for nothing.
    if (!hasResponse) fail(new Error("The upstream did not answer"))
  })
  sent.once("response", (answer) => {
    if (!isUnderstood(answer)) return void sent.destroy(new AnswerNotUnderstood())
    hasResponse = true
    received = answer
    receive(request, answer, breakOff, () => failure !== undefined)
  })
  passInformation(message, response, sent)
  if (parsed !== undefined) {
    copies?.request(parsed.bytes)
    copies?.requestEnded()
    sent.end(parsed.bytes)
    return cut
  }
  if (copies !== undefined) message.on("data", (chunk: Buffer) => copies.request(chunk))
  message.once("end", () => {
    copies?.requestEnded()
    if (isChunked) passTrailers(message, sent)
  })
  message.pipe(sent)
  return cut
}

/** Passes 100, 102 and the links of 103 back. */
const passInformation = (message: IncomingMessage, response: ServerResponse, sent: ClientRequest): void => {
  if (message.headers.expect !== undefined && !hasSentContinue(response)) {
    sent.once("continue", () => {
      if (!response.headersSent) response.writeContinue()
    })
  }
  sent.on("information", ({ headers: { link }, statusCode }) => {
    // HTTP/1.0 has no such responses. A client that takes none loses them: nothing holds an upstream up that sends more and more.
    if (response.headersSent || message.httpVersion === "1.0" || response.socket?.writableNeedDrain !== false) return
    try {
      if (statusCode === 102) response.writeProcessing()
      if (statusCode === 103 && link !== undefined) response.writeEarlyHints({ link: linksIn([link].flat()) })
    } catch {
      // Node writes links of some forms only, and throws at others. Nothing depends on a hint.
    }
  })
}

/** A header may have several links, and `writeEarlyHints` takes each by itself. */
const linksIn = (values: ReadonlyArray<string>): Array<string> => values.flatMap((value) => value.split(/\s*,\s*(?=<)/))

/** Whether trailers can follow an answer on its way back: it must be chunked there as well. */
const hasTrailers = ({ httpVersion, method }: IncomingMessage, { headers, statusCode }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined &&
  httpVersion !== "1.0" &&
  method !== "HEAD" &&
  statusCode !== 204 &&
  statusCode !== 304

const passTrailers = ({ rawTrailers }: IncomingMessage, target: OutgoingMessage): void => {
  if (rawTrailers.length === 0) return
  try {
    target.addTrailers(ForwardedHeaders.ofTrailers(rawTrailers))
  } catch {
    // As above: those of a lenient parser.
  }
}

const noBytes = new Uint8Array(0)

/** `fail` ends the response where it stands, soon: until then it `isBroken`, and must not come to its end. */
export const receive = (
  { copies, message, response }: Pick<NodeRequest, "copies" | "message" | "response">,
  answer: IncomingMessage,
  fail: (error: Error) => void,
  isBroken: () => boolean
): void => {
  const { rawHeaders, statusCode, statusMessage } = answer
  answer.once("error", fail)
  if (response.headersSent || response.destroyed) return void answer.destroy()
  try {
    // A date, like everything else, is the upstream's.
    response.sendDate = false
    response.writeHead(
      statusCode!,
      statusMessage!,
      ForwardedHeaders.ofResponse(rawHeaders, hasTrailers(message, answer))
    )
  } catch (error) {
    answer.destroy()
    return fail(error as Error)
  }
  copies?.head(statusCode!, rawHeaders)
  // The host may end it while it waits behind another one, of which nothing but an error tells: then what comes is written nowhere.
  const isEndedByHost = () => {
    // The client would take the next response for what this one lacks.
    if (answer.headers["content-length"] !== undefined) response.destroy()
    answer.unpipe(response).resume()
  }
  response.on("error", isEndedByHost)
  let hasBegun = false
  answer.on("data", (chunk: Buffer) => {
    hasBegun = true
    copies?.response(chunk)
  })
  answer.once("end", () => {
    hasBegun = true
    if (response.writableEnded) return isEndedByHost()
    if (isBroken()) return
    passTrailers(answer, response)
    response.end()
  })
  Bursts.gather(answer)
  answer.pipe(response, { end: false })
  // Headers go with the first bytes of the body where these have come as well, and otherwise without them. `flushHeaders` would
  // write them as UTF-8, and change those that hold other bytes than ASCII.
  setImmediate(() => {
    if (!hasBegun && !response.destroyed && !response.writableEnded) response.write(noBytes)
  })
}
