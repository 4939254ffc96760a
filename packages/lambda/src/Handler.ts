/** An AWS Lambda handler for API Gateway, function URLs and load balancers. */
import { createTachograph, type Tachograph, type TachographOptions } from "@tachograph/router"
import { randomUUID } from "node:crypto"
import * as CollectedBody from "./CollectedBody.ts"
import * as LambdaEvent from "./LambdaEvent.ts"
import { toRequest } from "./LambdaRequest.ts"
import { fromResponse, type LambdaResult } from "./LambdaResult.ts"

export interface LambdaHandler {
  /**
   * Handles an event of API Gateway (REST; HTTP, payload 1.0 and 2.0), a function URL or a load balancer (with single or
   * multi-value headers). Rejects with an `UnknownEventError` on any other event, which fails the invocation. Returns 503
   * `storage-unavailable` if the storage cannot be opened; the next invocation tries again.
   */
  (event: unknown): Promise<LambdaResult>
  /** Waits for requests in progress, then closes the storage. On SIGTERM this happens automatically, and the process exits. */
  readonly close: () => Promise<void>
}

/** An error with the same headers as every response of Tachograph. */
const errorResponse = (status: number, type: string, extraHeaders: Record<string, string> = {}) => {
  const body = JSON.stringify({ type })
  const headers = {
    "cache-control": "no-store",
    "content-length": String(body.length),
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "x-request-id": randomUUID(),
    ...extraHeaders
  }
  return new Response(body, { status, headers })
}

const respond = async (call: LambdaEvent.HttpCall, tachograph: Tachograph | undefined): Promise<Response> => {
  if (tachograph === undefined) return errorResponse(503, "storage-unavailable", { "retry-after": "1" })
  let request: Request
  try {
    request = toRequest(call)
  } catch {
    return errorResponse(400, "bad-request")
  }
  return whole(await tachograph.fetch(request))
}

/** An answer that is made while it is taken, which has no length, as one that is complete. */
const whole = async (response: Response): Promise<Response> => {
  const { body, headers, status } = response
  if (body === null || headers.has("content-length")) return response
  try {
    const bytes = await CollectedBody.collect(body)
    if (bytes === undefined) return errorResponse(413, "answer-too-large")
    headers.set("content-length", String(bytes.length))
    return new Response(bytes, { status, headers })
  } catch {
    // What made it has logged why.
    return errorResponse(503, "storage-unavailable", { "retry-after": "1" })
  }
}

/**
 * Creates a Lambda handler with the options of `createTachograph`. The storage opens immediately, while the function starts,
 * and stays open between invocations. An invalid option is a `TypeError`: it fails the function's start as an unhandled
 * rejection, every invocation rejects with it, and no storage is opened.
 */
export const createHandler = <E>(options: TachographOptions<E>): LambdaHandler => {
  let opening: Promise<Tachograph | undefined> | undefined
  let isClosed = false
  const open = () =>
    (opening ??= createTachograph({ runsBetweenRequests: false, ...options }).catch((error) => {
      // An invalid option: a retry would fail again, and the deployment must fail visibly.
      if (error instanceof TypeError) throw error
      console.error("Tachograph could not be opened:", error)
      opening = undefined
      return undefined
    }))
  const close = async () => {
    isClosed = true
    process.off("SIGTERM", terminate)
    const tachograph = await opening?.catch(() => undefined)
    await tachograph?.close()
  }
  const terminate = () => void close().finally(() => process.exit())
  process.once("SIGTERM", terminate)
  // Not awaited: Lambda reports an unhandled rejection as the reason why the function did not start.
  void open()

  const handle = async (event: unknown) => {
    const call = LambdaEvent.read(event)
    // The first attempt may have been frozen with the environment and then failed: try again for this invocation.
    const tachograph = isClosed ? undefined : ((await opening) ?? (await open()))
    return fromResponse(await respond(call, tachograph), call.resultFormat)
  }
  return Object.assign(handle, { close })
}
