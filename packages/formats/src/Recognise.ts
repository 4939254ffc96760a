/** Tells model calls from other requests on the wire, whatever host they go to. */
import type { Api } from "./Format.ts"
import { get, isEmpty, isObject, text } from "./json/Read.ts"
import { decodedOrSame } from "./PercentDecoding.ts"

interface Endpoint {
  readonly api: Api
  readonly path: RegExp
  /** Whether a body is one of this format. Other services have paths that end alike, but name no model in them. */
  readonly isCall: (body: unknown, isModelInPath: boolean) => boolean
}

const has =
  (...keys: ReadonlyArray<string>) =>
  (body: unknown): boolean =>
    keys.some((key) => !isEmpty(get(body, key)))

/** Messages of a mail or a chat service have no roles, and are for no model. Those of a call may lack a role: the provider refuses it. */
const hasMessages = (body: unknown, isModelInPath: boolean): boolean => {
  const messages = get(body, "messages")
  if (isModelInPath || has("model")(body)) return !isEmpty(messages) || Array.isArray(messages)
  return (
    Array.isArray(messages) && (messages.length === 0 || messages.some((message) => get(message, "role") !== undefined))
  )
}

const isResponse = (body: unknown): boolean => {
  const input = get(body, "input")
  const isInput = (typeof input === "string" && input !== "") || Array.isArray(input)
  return isInput || has("model", "prompt", "previous_response_id", "conversation")(body)
}

/**
 * In threads, OpenAI keeps messages that are no calls. No pattern looks at a part of a path again and again: paths come from strangers, and
 * are long.
 */
const endpoints: ReadonlyArray<Endpoint> = [
  { api: "provider1-chat-completions", path: /\/chat\/completions$/, isCall: hasMessages },
  {
    api: "provider1-responses",
    path: /\/responses$/,
    isCall: isResponse
  },
  // Vertex and Bedrock have the model in the path.
  {
    api: "provider2-messages",
    path: /\/(?:messages(?<!\/threads\/[^/]+\/messages)|publishers\/anthropic\/models\/[^/]+:(?:streamR|r)awPredict|model\/(?=[^/]*anthropic)[^/]+\/invoke)$/,
    isCall: hasMessages
  },
  {
    api: "provider3-models",
    path: /\/(?:models|tunedModels|endpoints|dynamic)\/[^/]+:(?:streamG|g)enerateContent$/,
    isCall: has("contents")
  },
  { api: "provider3-interactions", path: /\/interactions$/, isCall: has("model", "agent", "input") }
]

/** Path and query of an address, which may lack its host. */
const split = (url: string | URL): readonly [path: string, query: string] => {
  const [address = "", query = ""] = `${url}`.replace(/#.*$/s, "").split(/\?(.*)/s)
  return [address.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, "").replace(/\/$/, ""), query]
}

const parse = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Newer SDKs of Anthropic say only in the header `anthropic-beta` that a call is one of the beta, and on Bedrock in the body. */
const isBeta = (query: string, body: unknown, header: string | null | undefined): boolean =>
  /(?:^|&)beta=true(?:&|$)/.test(query) || !isEmpty(header) || !isEmpty(get(body, "anthropic_beta"))

/**
 * The format of a request to be sent by POST; null where it is no model call. `body` is its JSON, as text or parsed; without
 * it, the path alone decides. `betaHeader` is the header `anthropic-beta`.
 */
export const recognise = (url: string | URL, body?: unknown, betaHeader?: string | null): Api | null => {
  const [path, query] = split(url)
  const found = endpoints.find((endpoint) => endpoint.path.test(path))
  if (found === undefined) return null
  const parsed = typeof body === "string" ? parse(body) : body
  const isKnown = body !== undefined && body !== null
  if (isKnown && !(isObject(parsed) && found.isCall(parsed, modelInPath(path) !== null))) return null
  return found.api === "provider2-messages" && isBeta(query, parsed, betaHeader) ? "provider2-beta-messages" : found.api
}

/**
 * Whether a request is a call that `recognise` leaves out because its answer is a stream of AWS, whose binary frames are not read: that of
 * Bedrock for models of Anthropic.
 */
export const isUnreadCall = (url: string | URL): boolean =>
  /\/model\/(?=[^/]*anthropic)[^/]+\/invoke-with-response-stream$/.test(split(url)[0])

/** Whether a call is answered with a stream: by the content type of the answer, or by the path, whose stream may be an array of JSON. */
export const isStream = (url: string | URL, contentType: string): boolean =>
  /event-stream|ndjson|jsonl/i.test(contentType) || /:stream\w+$/i.test(split(url)[0])

/** Whether an answer that is no JSON begins as a stream of events does, whatever its content type: some servers name a wrong one. */
export const beginsAsEvents = (body: string): boolean => /^\ufeff?(?:data|event|id|retry)?:/.test(body)

/** The model that the path of a call names, as Gemini's, Vertex', Bedrock's and Azure's do; null where it names none. */
export const modelInUrl = (url: string | URL): string | null => modelInPath(split(url)[0])

const modelInPath = (path: string): string | null => {
  const [, tuned, model] =
    /\/(tunedModels\/)?([^/]+):(?:(?:streamG|g)enerateContent|(?:streamR|r)awPredict)$/.exec(path) ??
    /()\/model\/([^/]+)\/invoke[^/]*$/.exec(path) ??
    /()\/deployments\/([^/]+)\/[^/]+(?:\/[^/]+)?$/.exec(path) ??
    []
  if (model === undefined) return null
  const name = `${tuned ?? ""}${decodedOrSame(model)}`
  // No longer than an event may name it.
  return /^[^\0]{0,255}$/.test(name) ? text(name) : null
}
