import { credentialsOf, inJson, mask } from "@tachograph/capture/masking/Credentials"
import { attemptsOfInternalErrors, keyReused } from "@tachograph/capture/Retries"
import { get, list, parsed } from "@tachograph/formats/json/Read"
import { textLines } from "../api/Lines.ts"
import * as Timers from "../platform/Timers.ts"
import * as Utf8 from "../platform/Utf8.ts"
import { retryAfterMs } from "./Backoff.ts"
import type { Outcome, SentEvent, Transport } from "./Transport.ts"

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
  const type = get(parsed(body), "type")
  return typeof type === "string" && nameOfType.test(type) ? type : undefined
}

/** What the server finds wrong with an event, such as `body.agent string_too_long`: of the first that it names, no values. */
const invalidOf = (body: string): string | undefined => {
  const first = get(parsed(body), "detail", 0)
  const text = `${list(get(first, "loc")).join(".")} ${String(get(first, "type"))}`
  return /^[a-z_.0-9]{1,100} [a-z_.]{1,64}$/.test(text) ? text : undefined
}

/**
 * What is read of an answer, in bytes: Tachograph's are shorter, to a batch unless much is wrong with its events. Something else may
 * listen there, and go on for ever.
 */
const maxAnswerBytes = 64 * 1024

/** The lines of an answer as they come, of one that is longer those at its beginning. */
const linesOf = ({ body }: Response) => (body === null ? [] : textLines(body, maxAnswerBytes))

const textOf = async (response: Response): Promise<string> => {
  let text = ""
  for await (const line of linesOf(response)) text += `${line}\n`
  return text
}

const newline = Utf8.bytesOf("\n")

/** A line of a batch: the event with its key as its first member, without which it is byte for byte what is sent alone. */
const lineOf = ({ event, idempotencyKey }: SentEvent): ReadonlyArray<Uint8Array> => [
  Utf8.bytesOf(`{"idempotency_key":${JSON.stringify(idempotencyKey)},`),
  // The first byte of an event is its opening brace.
  event.subarray(1),
  newline
]

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
  /** What an answer says that is no success. */
  const outcomeOf = (status: number, text: string, retryAfter: string | null): Outcome<never> => {
    const type = typeOf(text)
    const error = new RecorderError(inWords(status, type, text), status, type)
    if (error.type === "fingerprint-not-found") return { type: "unknown-fingerprint" }
    if (isTransient(status)) return { type: "retry", afterMs: retryAfterMs(retryAfter, Date.now()), cause: error }
    if (status === 500) return { type: "retry", limit: attemptsOfInternalErrors, cause: error }
    return { type: "refused", isFinal: isFinal(error), cause: error }
  }
  const request = async (
    method: string,
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string>,
    read: (response: Response, goOn: () => void) => Promise<string> = textOf
  ): Promise<Outcome<string>> => {
    const controller = new AbortController()
    underWay.add(controller)
    const timeout = () => controller.abort(new DOMException(`${url} does not answer`, "TimeoutError"))
    let stopTimer = () => {}
    const goOn = () => {
      stopTimer()
      stopTimer = Timers.after(timeoutMs, timeout)
    }
    goOn()
    try {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        body,
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
        signal: controller.signal,
        // A redirect could carry the key and the event to another host.
        redirect: "manual"
      })
      if (response.ok) return { type: "done", value: await read(response, goOn) }
      return outcomeOf(response.status, await textOf(response), response.headers.get("retry-after"))
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
    const id = get(parsed(outcome.value), name)
    if (typeof id === "string") return { type: "done", value: id }
    return { type: "refused", isFinal: false, cause: new Error(somethingElse(200)) }
  }
  /** Whether the event is stored, and if not, why. */
  const receiptOf = (outcome: Outcome<string>): Outcome<void> => {
    const receipt = idIn(outcome, "event_id")
    return receipt.type === "done" || isStored(receipt) ? { type: "done", value: undefined } : receipt
  }
  return {
    register: async (fingerprint) => idIn(await request("PUT", "/fingerprints", fingerprint, {}), "fingerprint_id"),
    send: async ({ event, idempotencyKey }) =>
      receiptOf(await request("POST", "/events", event, { "idempotency-key": idempotencyKey })),
    sendBatch: async (batch, stored) => {
      let outcome: Outcome<void> = { type: "refused", isFinal: false, cause: new Error(somethingElse(200)) }
      const read = async (response: Response, goOn: () => void) => {
        for await (const text of linesOf(response)) {
          const answer = parsed(text)
          const status = get(answer, "status")
          if (typeof status !== "number") continue
          // A connection that is slow takes long for a batch, and the server answers as it reads.
          goOn()
          const receipt = receiptOf(status === 200 ? { type: "done", value: text } : outcomeOf(status, text, null))
          if (receipt.type === "done") stored(Number(get(answer, "line")) - 1)
          if (receipt.type === "retry") outcome = receipt
          else if (outcome.type === "refused") outcome = { type: "done", value: undefined }
        }
        return ""
      }
      const headers = { "content-type": "application/x-ndjson" }
      const whole = await request("POST", "/events/batch", Utf8.joined(batch.flatMap(lineOf)), headers, read)
      return whole.type === "done" ? outcome : whole
    },
    stop: () => {
      for (const controller of underWay) controller.abort(new Error("The process ends"))
    }
  }
}
