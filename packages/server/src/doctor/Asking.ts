/** Asks the server at an address, through whatever stands in front of it: each time over a connection of its own. */
import { prefix } from "@tachograph/router"
import * as Effect from "effect/Effect"
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from "node:http"
import { request as requestEncrypted } from "node:https"
import { text } from "node:stream/consumers"

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The type of an error of Tachograph; undefined where the answer is none, or comes from what stands in front. */
  readonly type: string | undefined
  /** From the request to the end of the answer. */
  readonly ms: number
}

interface Asked {
  readonly method?: "GET" | "POST"
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** How long nothing may come, and nothing be taken (ms). */
const patienceMs = 60_000

const typeOf = (text: string): string | undefined => {
  try {
    const body: unknown = JSON.parse(text)
    const { detail, type } = (body ?? {}) as { readonly detail?: unknown; readonly type?: unknown }
    if (typeof type === "string") return type
    return detail === undefined ? undefined : "validation-error"
  } catch {
    return undefined
  }
}

/** The public address, without a slash at its end, and without the path of the contract. */
export const baseOf = (url: URL): string => url.href.replace(/\/+$/, "").replace(new RegExp(`${prefix}$`), "")

const keyHeader = (): Record<string, string> => {
  const key = process.env["TACHOGRAPH_API_KEY"]
  return key ? { authorization: `Bearer ${key}` } : {}
}

const open = (url: string, { body, headers, method = "GET" }: Asked): ClientRequest => {
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }
  const options = { method, agent: false as const, headers: { ...keyHeader(), ...headers, ...length } }
  return url.startsWith("https:") ? requestEncrypted(url, options) : requestPlain(url, options)
}

/** Sends a request and hands its answer to `read`. Fails with the reason where there is none. */
const exchange = <A>(url: string, asked: Asked, read: (response: IncomingMessage) => Promise<A>) =>
  Effect.callback<A, string>((resume) => {
    const fail = (error: Error) =>
      resume(Effect.fail(error.message || (error as NodeJS.ErrnoException).code || error.name))
    const request = open(url, asked)
    request.setTimeout(patienceMs, () => request.destroy(new Error(`nothing for ${patienceMs / 1000} s`)))
    request.on("error", fail)
    request.once("response", (response) => void read(response).then((value) => resume(Effect.succeed(value)), fail))
    request.end(asked.body)
    return Effect.sync(() => void request.destroy())
  })

export const ask = (base: string, path: string, asked: Asked = {}): Effect.Effect<Reply, string> =>
  Effect.suspend(() => {
    const start = performance.now()
    return exchange(base + path, asked, async (response): Promise<Reply> => {
      const body = await text(response)
      const { headers, statusCode: status = 0 } = response
      return { status, headers, text: body, type: typeOf(body), ms: performance.now() - start }
    })
  })

/** The status of an answer that has no end, and how long its first byte took (ms). Ends the answer then. */
export const askForFirstByte = (base: string, path: string) =>
  Effect.suspend(() => {
    const start = performance.now()
    return exchange(base + path, {}, async (response) => {
      for await (const _ of response) break
      return { status: response.statusCode, ms: performance.now() - start }
    })
  })
