/** Reads the error bodies of providers and of the gateways before them. */
import type { Json, JsonObject } from "../Format.ts"
import { first, get, isEmpty, isObject, list, says, text } from "../json/Read.ts"

export interface ProviderError {
  readonly type: string
  /** Null where it is only an HTTP status. */
  readonly code: string | null
  /** The HTTP status that the body names. */
  readonly status: number | null
}

/** Keys of which every answer has one, whatever its format. A body with `message` or `detail` and none of these is an error. */
const answerKeys = ["choices", "output", "content", "candidates", "steps", "outputs", "text", "object", "role"]

const statusOf = (value: Json | undefined): number | null => {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599 ? status : null
}

/** Codes are texts or numbers. */
const word = (value: Json | undefined): string | null =>
  typeof value === "number" ? String(value) : text(typeof value === "string" ? value.trim() : value)

/** The type of an error, unless it only says that it is one. */
const typeOf = (error: JsonObject): Json | undefined => {
  const type = get(error, "type")
  return type === "error" ? undefined : type
}

/** `outer` is the body. It holds the code where the error is a text only, as xAI's. */
const describe = (error: Json, outer: JsonObject): ProviderError => {
  const holder = isObject(error) ? error : outer
  const codes = ["code", "error_code", "__type"].map((key) => get(holder, key))
  const statuses = ["status", "statusCode", "status_code"].map((key) => get(holder, key))
  // A status below 400 is of the response that the error came in, and says nothing about it.
  const statusWords = statuses.map(word).filter((name) => !/^[123]\d\d$/.test(name ?? ""))
  const types = [...[typeOf(holder), ...codes].map(word), ...statusWords]
  const numbers = [...codes, ...statuses, get(outer, "status"), get(outer, "statusCode")].map(statusOf)
  // Google's word is its status, beside a code that is a number.
  const words = [...codes, ...statuses].map(word).filter((name) => !/^[1-5]\d\d$/.test(name ?? ""))
  return { type: first(...types) ?? "unknown", code: first(...words), status: first(...numbers) }
}

/** The error that an output is or holds; null where it is none. */
export const errorOf = (output: unknown): ProviderError | null => {
  // Gemini's streams are an array, also where one element is an error.
  if (Array.isArray(output))
    return (
      list(output)
        .map(errorInObject)
        .find((error) => error !== null) ?? null
    )
  return errorInObject(output)
}

/** Keys that say in a body without an answer that it is an error. */
const errorKeys = ["message", "Message", "detail", "error_code", "error_msg", "msg", "errors", "fault"]

const errorInObject = (output: unknown): ProviderError | null => {
  if (!isObject(output)) return null
  const isAnswer = answerKeys.some((key) => says(output, key) && output[key] !== "")
  const given = get(output, "error")
  // Some gateways answer a list of one error.
  const error = Array.isArray(given) ? (given[0] as Json | undefined) : given
  // An empty one beside an answer is none.
  if (isObject(error) && !(isAnswer && isEmpty(error))) return describe(error, output)
  if (text(error) !== null || typeof error === "number") return describe(error as Json, output)
  const firstOfMany = list(get(output, "errors"))[0]
  if (isObject(firstOfMany) && get(output, "success") !== true) return describe(firstOfMany, output)
  const isFlat = get(output, "type") === "error" || get(output, "object") === "error" || error === true
  if (isFlat) return describe(output, output)
  if (isAnswer) return null
  const said = errorKeys.map((key) => get(output, key)).find((value) => !isBlank(value))
  if (said !== undefined) return describe(isObject(said) ? said : output, output)
  // Problem details (RFC 9457).
  return text(get(output, "title")) !== null && statusOf(get(output, "status")) !== null
    ? describe(output, output)
    : null
}

const keysInErrors = new Set([...errorKeys, "code", "error"])

/** An object may be the message of an answer. */
const isBlank = (value: Json | undefined): boolean =>
  isObject(value)
    ? !Object.keys(value).some((key) => keysInErrors.has(key) && says(value, key))
    : typeof value !== "number" && isEmpty(value)

/** The words of one error, or of an object that says only that it is one. */
const saidBy = (error: unknown): string | null => {
  if (!isObject(error)) return text(error)
  const said = first(...["message", "Message", "detail"].map((key) => text(get(error, key))))
  const details = list(get(error, "detail")).flatMap((detail) =>
    isObject(detail) ? (text(get(detail, "msg")) ?? []) : []
  )
  const message = said ?? text(details.join("; "))
  // What came instead of JSON, and why a call of the AI SDK failed, say more than the sentence before them.
  const [body, cause] = [text(get(error, "body")), text(get(error, "cause", "message"))]
  if (message === null) return body ?? cause
  return message + (body === null ? "" : ` ${body}`) + (cause === null || cause === message ? "" : `: ${cause}`)
}

/** What an error says for people to read: the provider's words, and what came where it was no JSON. Null where it says nothing. */
export const messageOf = (output: unknown): string | null => {
  if (Array.isArray(output)) return firstOf(output, (element) => (Array.isArray(element) ? null : messageOf(element)))
  const error = get(output, "error")
  return (
    // After retries, the AI SDK's error holds the last one of them.
    saidBy(get(error, "lastError")) ??
    saidBy(error) ??
    saidBy(list(get(output, "errors"))[0]) ??
    firstOf(list(get(output, "choices")), (choice) => saidBy(get(choice, "error"))) ??
    (errorInObject(output) === null ? null : saidBy(output))
  )
}

/** The first text that is read of the elements. */
const firstOf = (elements: ReadonlyArray<Json>, read: (element: Json) => string | null): string | null => {
  for (const element of elements) {
    const found = read(element)
    if (found !== null) return found
  }
  return null
}
