/** Tachograph behind API Gateway, a function URL or a load balancer. */
import { createTachograph, type Tachograph, type TachographOptions } from "@tachograph/router"
import { randomUUID } from "node:crypto"
import * as LambdaEvent from "./LambdaEvent.ts"
import { toRequest } from "./LambdaRequest.ts"
import { fromResponse, type LambdaResult } from "./LambdaResult.ts"

export interface LambdaHandler {
  /**
   * Answers an event of API Gateway (REST; HTTP, payload 1.0 and 2.0), a function URL or a load balancer (headers with one
   * value or with several). Rejects with an `UnknownEventError` where the event is anything else, so that the invocation
   * fails. Where the storage cannot be opened the answer is 503 `storage-unavailable`, and the next call tries again.
   */
  (event: unknown): Promise<LambdaResult>
  /** Waits for what is under way, then closes the storage. SIGTERM does so by itself, and ends the process. */
  readonly close: () => Promise<void>
}

/** Has what every answer of Tachograph's has. */
const error = (status: number, type: string, more: Record<string, string> = {}) =>
  Response.json(
    { type },
    {
      status,
      headers: {
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-request-id": randomUUID(),
        ...more
      }
    }
  )

const answer = async (call: LambdaEvent.HttpCall, tachograph: Tachograph | undefined): Promise<Response> => {
  if (tachograph === undefined) return error(503, "storage-unavailable", { "retry-after": "1" })
  let request: Request
  try {
    request = toRequest(call)
  } catch {
    return error(400, "bad-request")
  }
  return tachograph.fetch(request)
}

/**
 * Makes a function's handler, with the options of `createTachograph`. The storage begins to open at once, while the
 * function starts, and stays open from call to call. Where an option is not what it has to be, nothing is opened: a
 * `TypeError` that nobody catches ends the start, and each call rejects with it.
 */
export const createHandler = <E>(options: TachographOptions<E>): LambdaHandler => {
  let opening: Promise<Tachograph | undefined> | undefined
  let isClosed = false
  const open = () =>
    (opening ??= createTachograph(options).catch((error) => {
      // Of an option: trying again will not mend it, and whoever deploys has to see it.
      if (error instanceof TypeError) throw error
      console.error("Tachograph could not be opened:", error)
      opening = undefined
      return undefined
    }))
  const close = async () => {
    isClosed = true
    process.off("SIGTERM", terminate)
    const opened = await opening?.catch(() => undefined)
    await opened?.close()
  }
  const terminate = () => void close().finally(() => process.exit())
  process.once("SIGTERM", terminate)
  // Lambda reports a rejection that nobody has caught as what kept the function from starting.
  void open()

  const handle = async (event: unknown) => {
    const call = LambdaEvent.read(event)
    // What began before this call may have been frozen half way, and is not the call's to answer for.
    const opened = isClosed ? undefined : ((await opening) ?? (await open()))
    return fromResponse(await answer(call, opened), call.answer)
  }
  return Object.assign(handle, { close })
}
