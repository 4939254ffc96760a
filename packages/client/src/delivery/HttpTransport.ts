import { credentialsOf, inJson, mask } from "@tachograph/capture/masking/Credentials"
import { attemptsOfInternalErrors, keyReused } from "@tachograph/capture/Retries"
import * as Timers from "../platform/Timers.ts"
import * as Utf8 from "../platform/Utf8.ts"
import { retryAfterMs } from "./Backoff.ts"
import type { Outcome, Transport } from "./Transport.ts"

export interface HttpOptions {
  /** The URL of the server, without a slash at its end. */
  readonly url: string
  readonly apiKey: string
  /** Where the key was given. */
  readonly keyName: string
  /** Ends a request that is not answered, in ms. */
  readonly timeoutMs: number
  /** One that is not tapped. */
  readonly fetch: typeof globalThis.fetch
}

/** How deep causes of causes are kept. */
const depthOfCauses = 5

/** What is known of an error, without the key: a `fetch` of the application may put the whole request into what it throws. */
const causeWithout = (secrets: ReadonlyArray<string>, error: unknown, depth = 0): Error => {
  const { cause, code, message, name } = Object(error) as Partial<
    Record<"cause" | "code" | "message" | "name", unknown>
  >
  const masked = (value: unknown) => secrets.reduce((text, secret) => text.replaceAll(secret, mask), String(value))
  const hasInner = cause !== undefined && cause !== null && depth < depthOfCauses
  const copy = new Error(
    masked(message ?? error),
    hasInner ? { cause: causeWithout(secrets, cause, depth + 1) } : undefined
  )
  Object.defineProperty(copy, "name", { value: masked(name ?? "Error"), configurable: true, writable: true })
  return typeof code !== "string" ? copy : Object.assign(copy, { code: masked(code) })
}

/** What TLS says of an answer that is none of TLS, in OpenSSL's words and in those of other runtimes. */
const noTls = /wrong.version.number|EPROTO|InvalidContentType/i

const isNoTls = (error: Error, depth = 0): boolean =>
  noTls.test(`${error.message} ${String((error as { readonly code?: unknown }).code)}`) ||
  (depth < depthOfCauses && error.cause instanceof Error && isNoTls(error.cause, depth + 1))

/** A response that is not a success. */
class RecorderError extends Error {
  override readonly name = "RecorderError"
  readonly status: number
  /** The `type` of the error body, such as `unauthorized`. */
  readonly type: string | undefined
  constructor(message: string, status: number, type: string | undefined) {
    super(message)
    this.status = status
    this.type = type
  }
}

/** 501 says that there never will be a success. */
const isTransient = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status > 500 && status !== 501)

/** The server will never record this event. Everything else may be the fault of a key, an address or what stands between. */
const isFinal = ({ status, type }: RecorderError): boolean =>
  status === 422 || (status === 413 && type === "payload-too-large")

/** An event with this key is stored: that of the same end of a call, which another process has seen. */
const isStored = (outcome: Outcome<string>): boolean =>
  outcome.type === "refused" && outcome.cause instanceof RecorderError && outcome.cause.type === keyReused

/** Something else than Tachograph may answer with a type of its own, which is printed only if it looks like one of these. */
const nameOfType = /^[a-z][a-z-]{0,63}$/

const typeOf = (body: string): string | undefined => {
  try {
    const { type } = JSON.parse(body) as { readonly type?: unknown }
    return typeof type === "string" && nameOfType.test(type) ? type : undefined
  } catch {
    return undefined
  }
}

/** What the server finds wrong with an event, such as `body.agent string_too_long`: of the first that it names, no values. */
const invalidOf = (body: string): string | undefined => {
  try {
    const { detail } = JSON.parse(body) as {
      readonly detail: ReadonlyArray<{ readonly loc: ReadonlyArray<unknown>; readonly type: unknown }>
    }
    const [{ loc, type }] = detail as [(typeof detail)[number]]
    const text = `${loc.join(".")} ${String(type)}`
    return /^[a-z_.0-9]{1,100} [a-z_.]{1,64}$/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

/** What is read of an answer, in bytes: Tachograph's are shorter. Something else may listen there, and go on for ever. */
const maxAnswerBytes = 64 * 1024

/** The beginning of an answer that is longer. */
const textOf = async ({ body }: Response): Promise<string> => {
  if (body === null) return ""
  const reader = body.getReader()
  const chunks: Array<Uint8Array> = []
  for (let bytes = 0; bytes <= maxAnswerBytes;) {
    const { done, value } = await reader.read()
    if (done) return Utf8.textOf(chunks)
    bytes += value.byteLength
    chunks.push(value)
  }
  await reader.cancel()
  return Utf8.textOf(chunks)
}

export const make = ({ apiKey, fetch, keyName, timeoutMs, url }: HttpOptions): Transport => {
  const somethingElse = (status: number) => `nothing at ${url} answers as Tachograph does (${status})`
  const inWords = (status: number, type: string | undefined, body: string): string => {
    if (status < 400 || status === 404 || status === 405) return somethingElse(status)
    if (status === 401) return `${url} refused the key in ${keyName}`
    if (type === "forbidden") return `${url} refused the key in ${keyName}, which needs the scope record`
    return [url, "answered", status, type, invalidOf(body)].filter((part) => part !== undefined).join(" ")
  }
  const unreachable = (cause: Error): Error => {
    if (cause.name === "TimeoutError") return cause
    if (url.startsWith("https:") && isNoTls(cause)) return new Error(`${url} does not speak TLS: is it http://?`)
    return new Error(`${url} cannot be reached`, { cause })
  }
  // Its ends may be blank, which `fetch` leaves out.
  const secrets = credentialsOf([], [], [apiKey, apiKey.trim()]).flatMap((key) => inJson(key))
  const underWay = new Set<AbortController>()
  const request = async (
    method: string,
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string>
  ): Promise<Outcome<string>> => {
    const controller = new AbortController()
    underWay.add(controller)
    const timeout = () => controller.abort(new DOMException(`${url} does not answer`, "TimeoutError"))
    const stopTimer = Timers.after(timeoutMs, timeout)
    try {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        body,
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
        signal: controller.signal,
        // A redirect could carry the key and the event to another host.
        redirect: "manual"
      })
      const text = await textOf(response)
      if (response.ok) return { type: "done", value: text }
      const type = typeOf(text)
      const error = new RecorderError(inWords(response.status, type, text), response.status, type)
      if (error.type === "fingerprint-not-found") return { type: "unknown-fingerprint" }
      if (isTransient(response.status)) {
        return { type: "retry", afterMs: retryAfterMs(response.headers.get("retry-after"), Date.now()), cause: error }
      }
      if (response.status === 500) return { type: "retry", limit: attemptsOfInternalErrors, cause: error }
      return { type: "refused", isFinal: isFinal(error), cause: error }
    } catch (error) {
      return { type: "retry", cause: unreachable(causeWithout(secrets, error)) }
    } finally {
      stopTimer()
      underWay.delete(controller)
    }
  }
  /** The id in the answer to a success. Something else may listen there, and answer 200 to everything. */
  const idIn = (outcome: Outcome<string>, name: "event_id" | "fingerprint_id"): Outcome<string> => {
    if (outcome.type !== "done") return outcome
    try {
      const id = (JSON.parse(outcome.value) as Readonly<Record<string, unknown>>)[name]
      if (typeof id === "string") return { type: "done", value: id }
    } catch {}
    return { type: "refused", isFinal: false, cause: new Error(somethingElse(200)) }
  }
  return {
    register: async (fingerprint) => idIn(await request("PUT", "/fingerprints", fingerprint, {}), "fingerprint_id"),
    send: async (event, idempotencyKey) => {
      const headers = { "idempotency-key": idempotencyKey }
      const outcome = idIn(await request("POST", "/events", event, headers), "event_id")
      return outcome.type === "done" || isStored(outcome) ? { type: "done", value: undefined } : outcome
    },
    stop: () => {
      for (const controller of underWay) controller.abort(new Error("The process ends"))
    }
  }
}
