/** Passes a web request on to its upstream, and the response back, each as it comes. */
import type { ClientRequest, IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import type { ReadableStream } from "node:stream/web"
import type { Copies } from "./Copies.ts"
import type { Followed } from "./Followed.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"
import {
  AnswerNotUnderstood,
  endingOf,
  isUnderstood,
  type Passed,
  RequestBroken,
  type UpstreamClient
} from "./UpstreamClient.ts"

export interface WebRequest extends Followed {
  readonly request: Request
  /** Called with a function that ends it early, for the reason that the error says. */
  readonly onBegin: (cut: (reason: Error) => void) => void
}

/** Statuses whose responses have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/** How long nothing of the rest of a request may come once it is answered (ms). Then it counts as broken off. */
const restTimeoutMs = 5_000

/** The largest that a `Response` can have. */
const largestStatus = 599

/** The length that the headers say; undefined if they say none, or more than one thing. */
const lengthIn = (headers: Headers): number | undefined => {
  const length = headers.get("content-length") ?? ""
  return /^\d+$/.test(length) && !headers.has("transfer-encoding") ? Number(length) : undefined
}

/**
 * The body, which fails if it has another length: a host may have made the request of another one, with another body. What is too long
 * would be the next request.
 */
async function* ofLength(body: AsyncIterable<Uint8Array>, length: number | undefined): AsyncIterable<Uint8Array> {
  let passed = 0
  for await (const chunk of body) {
    passed += chunk.length
    if (passed > (length ?? passed)) break
    yield chunk
  }
  if (passed !== (length ?? passed)) throw new Error("The body has another length than its headers say")
}

/** Throws, and ends the passage, if the request has a header that cannot be sent: those of web requests may have more characters. */
const begin = (client: UpstreamClient, { onEnd }: WebRequest, passed: Passed): ClientRequest => {
  try {
    return client.begin(passed)
  } catch (error) {
    onEnd(endingOf(error as Error), false)
    throw error
  }
}

/** Rejects if the upstream fails, or cannot be reached, before its response has begun. */
export const pass = (client: UpstreamClient, web: WebRequest): Promise<Response> =>
  new Promise((resolve, reject) => {
    const { copies, destination, onBegin, onEnd, request } = web
    const { method, signal } = request
    const length = lengthIn(request.headers)
    const given = Array.from(request.headers).filter(([name]) => request.body !== null || name !== "content-length")
    const headers = ForwardedHeaders.framed(method, given.flat(), request.body !== null && length === undefined)
    const sent = begin(client, web, { ...destination, method, headers })
    const abort = () => void sent.destroy()
    signal.addEventListener("abort", abort)
    let failure: Error | undefined
    let response: IncomingMessage | undefined
    const body =
      request.body === null
        ? undefined
        : Readable.from(ofLength(request.body as ReadableStream<Uint8Array>, length), { objectMode: false })

    sent.on("error", (error) => {
      // Node takes an answer that only the end of the connection ends for whole, however that ends.
      if (response?.complete === false) response.destroy(error)
      if (response !== undefined) return
      failure ??= error
      reject(error)
    })
    /** An answer that has come may still be unread; Node aborts the request where the host cancels it, and lets the answer end. */
    const hasPassed = () => response?.readableEnded === true && !sent.aborted
    const end = () => {
      signal.removeEventListener("abort", abort)
      const isWhole = failure === undefined && hasPassed()
      onEnd(isWhole ? undefined : endingOf(signal.aborted ? undefined : failure), response !== undefined)
    }
    /** The host may still have the rest of the request, which is part of the record. */
    const endOnceRead = () => {
      // The upstream may never take it.
      sent.destroy()
      if (body === undefined || body.destroyed) return end()
      body.unpipe(sent).resume()
      if (copies === undefined || signal.aborted || (response !== undefined && !hasPassed())) return end()
      // A host may never hear that its client is gone.
      const timer = setTimeout(end, Math.min(restTimeoutMs, client.idleTimeoutMs)).unref()
      body
        .on("data", () => timer.refresh())
        .once("close", () => {
          clearTimeout(timer)
          end()
        })
    }
    onBegin((reason) => {
      if (!hasPassed()) failure ??= reason
      sent.destroy(failure)
      response?.destroy(failure)
      end()
    })
    sent.once("close", () => {
      if (response !== undefined) return
      endOnceRead()
      // A change of the protocol closes the request without an error.
      reject(new Error("The upstream did not answer"))
    })
    sent.once("response", (answer) => {
      if (!isUnderstood(answer) || answer.statusCode! > largestStatus)
        return void sent.destroy(new AnswerNotUnderstood())
      response = answer
      const onError = (error: Error) => {
        // Cancelling the response aborts the request, and is no failure of the provider.
        if (!sent.aborted) failure ??= error
      }
      answer.once("error", onError).once("close", endOnceRead)
      try {
        resolve(toResponse(method, answer, copies))
      } catch (error) {
        sent.destroy()
        reject(error as Error)
      }
    })
    if (body === undefined) {
      copies?.requestEnded()
      return void sent.end()
    }
    // A body that breaks off must not look complete.
    body.once("error", () => {
      if (!hasPassed()) failure ??= new RequestBroken()
      sent.destroy(failure)
    })
    if (copies !== undefined) {
      body.on("data", (chunk: Buffer) => copies.request(chunk)).once("end", () => copies.requestEnded())
    }
    body.pipe(sent)
  })

const toResponse = (method: string, answer: IncomingMessage, copies: Copies | undefined): Response => {
  const { rawHeaders, statusCode, statusMessage } = answer
  const headers = new Headers(ForwardedHeaders.pairs(ForwardedHeaders.ofResponse(rawHeaders, false)))
  const init = { status: statusCode!, statusText: statusMessage!, headers }
  copies?.head(statusCode!, rawHeaders)
  if (method === "HEAD" || bodiless.has(statusCode!)) {
    answer.resume()
    return new Response(null, init)
  }
  const body = Readable.toWeb(answer)
  // The stream is paused until its first read: this listener hears all of it.
  if (copies !== undefined) answer.on("data", (chunk: Buffer) => copies.response(chunk))
  return new Response(body as globalThis.ReadableStream<Uint8Array<ArrayBuffer>>, init)
}
