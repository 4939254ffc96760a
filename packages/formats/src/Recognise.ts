/** Tells model calls from other requests on the wire, whatever host they go to. */
import type { Api } from "./Format.ts"
import { get, isEmpty, isObject, list, parsed, text } from "./json/Read.ts"
import { decodedOrSame } from "./PercentDecoding.ts"

/** Those that go over the wire. */
export type WireApi = Exclude<Api, "aisdk">

interface Endpoint {
  /** Of models of several makers, the body says which format. Without one, the first. */
  readonly apis: readonly [WireApi, ...ReadonlyArray<WireApi>]
  readonly path: RegExp
}

type IsCall = (body: unknown, isModelInPath: boolean) => boolean

const has =
  (...keys: ReadonlyArray<string>) =>
  (body: unknown): boolean =>
    keys.some((key) => !isEmpty(get(body, key)))

/** Messages of a mail or a chat service have no roles, and are for no model. Those of a call may lack a role: the provider refuses it. */
const hasMessages: IsCall = (body, isModelInPath) => {
  const messages = get(body, "messages")
  if (isModelInPath || has("model")(body)) return !isEmpty(messages) || Array.isArray(messages)
  return (
    Array.isArray(messages) && (messages.length === 0 || messages.some((message) => get(message, "role") !== undefined))
  )
}

const isResponse: IsCall = (body) => {
  const input = get(body, "input")
  const isInput = (typeof input === "string" && input !== "") || Array.isArray(input)
  return isInput || has("model", "prompt", "previous_response_id", "conversation")(body)
}

/** Whether a body is one of a format. Other services have paths that end alike, but name no model in them. */
const isCallOf: Readonly<Record<WireApi, IsCall>> = {
  "provider1-chat-completions": hasMessages,
  "provider1-responses": isResponse,
  "provider2-messages": hasMessages,
  "provider2-beta-messages": hasMessages,
  "provider3-models": has("contents"),
  "provider3-interactions": has("model", "agent", "input")
}

/**
 * In threads, OpenAI keeps messages that are no calls. No pattern looks at a part of a path again and again: paths come from strangers, and
 * are long.
 */
const endpoints: ReadonlyArray<Endpoint> = [
  { apis: ["provider1-chat-completions"], path: /\/chat\/completions$/ },
  { apis: ["provider1-responses"], path: /\/responses(?:\/compact)?$/ },
  // Vertex and Bedrock have the model in the path.
  {
    apis: ["provider2-messages"],
    path: /\/(?:messages(?<!\/threads\/[^/]+\/messages)|publishers\/anthropic\/models\/[^/]+:(?:streamR|r)awPredict|model\/(?=[^/]*(?:\/[^/]*)?anthropic)(?:arn[^/]+\/)?[^/]+\/(?:invoke(?:-with-response-stream)?|converse(?:-stream)?))$/
  },
  // Models of all makers, and profiles and endpoints that name none. The id of a profile of Bedrock has a slash, which may be escaped.
  {
    apis: ["provider1-chat-completions", "provider2-messages"],
    path: /\/(?:(?:models|endpoints)\/[^/]+:(?:streamR|r)awPredict|model\/(?:arn[^/]+\/)?[^/]+\/(?:invoke(?:-with-response-stream)?|converse(?:-stream)?))$/
  },
  {
    apis: ["provider3-models"],
    path: /\/(?:models|tunedModels|endpoints|dynamic)\/[^/]+:(?:streamG|g)enerateContent$/
  },
  { apis: ["provider3-interactions"], path: /\/interactions$/ }
]

/**
 * Vertex and Bedrock want a version in the body of calls to models of Anthropic, and of these alone. Converse takes in
 * `additionalModelRequestFields` what only some models understand.
 */
const isForAnthropic = (body: unknown): boolean =>
  has("anthropic_version")(body) || has("thinking", "anthropic_beta")(get(body, "additionalModelRequestFields"))

/** The contents of Nova have no types, as those of Converse. Behind a profile, it is not known that they are Nova's. */
const isOfNova = (body: unknown): boolean =>
  list(get(body, "messages")).some(
    (message) => isObject(get(message, "content", 0)) && !has("type")(get(message, "content", 0))
  )

/** Path and query of an address, which may lack its host. */
const split = (url: string | URL): readonly [path: string, query: string] => {
  const [address = "", query = ""] = `${url}`.replace(/#.*$/s, "").split(/\?(.*)/s)
  return [address.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, "").replace(/\/$/, ""), query]
}

/** The path of an address, without a slash at its end. */
export const pathOf = (url: string | URL): string => split(url)[0]

/** Newer SDKs of Anthropic say only in the header `anthropic-beta` that a call is one of the beta, and on Bedrock in the body. */
const isBeta = (query: string, body: unknown, header: string | null | undefined): boolean =>
  /(?:^|&)beta=true(?:&|$)/.test(query) || !isEmpty(header) || !isEmpty(get(body, "anthropic_beta"))

/** That of the formats which the body of a request to an endpoint says; the first where it says none. */
const apiIn = ([api, ...others]: Endpoint["apis"], body: unknown): WireApi =>
  isForAnthropic(body) ? (others.find((other) => other === "provider2-messages") ?? api) : api

/**
 * The format of a request to be sent by POST; null where it is no model call. `body` is its JSON, as text or parsed; without
 * it, the path alone decides. `betaHeader` is the header `anthropic-beta`.
 */
export const recognise = (url: string | URL, body?: unknown, betaHeader?: string | null): WireApi | null => {
  const [path, query] = split(url)
  const found = endpoints.find((endpoint) => endpoint.path.test(path))
  if (found === undefined) return null
  const said = typeof body === "string" ? parsed(body) : body
  const api = apiIn(found.apis, said)
  const isKnown = body !== undefined && body !== null
  if (isKnown && !(isObject(said) && isCallOf[api](said, modelInPath(path) !== null))) return null
  if (isInvoked(path) && !isConverse(url) && api === "provider1-chat-completions" && isOfNova(said)) return null
  return withBeta(api, query, said, betaHeader)
}

const withBeta = (api: WireApi, query: string, body: unknown, betaHeader: string | null | undefined): WireApi =>
  api === "provider2-messages" && isBeta(query, body, betaHeader) ? "provider2-beta-messages" : api

/** What only one format has, of an answer or of the first event of one that is a stream. */
const isAnswerOf: ReadonlyArray<readonly [api: WireApi, isAnswer: (answer: unknown) => boolean]> = [
  [
    "provider1-chat-completions",
    (answer) =>
      (text(get(answer, "object")) ?? "").startsWith("chat.completion") && Array.isArray(get(answer, "choices"))
  ],
  [
    "provider1-responses",
    (answer) =>
      /^response(?:\.compaction)?$/.test(text(get(answer, "object") ?? get(answer, "response", "object")) ?? "")
  ],
  [
    "provider2-messages",
    (answer) => {
      const message = get(answer, "type") === "message_start" ? get(answer, "message") : answer
      return get(message, "type") === "message" && isObject(get(message, "usage"))
    }
  ],
  ["provider3-models", (answer) => isObject(get(answer, "usageMetadata")) && Array.isArray(get(answer, "candidates"))],
  [
    "provider3-interactions",
    (answer) =>
      get(answer, "object") === "interaction" || (text(get(answer, "event_type")) ?? "").startsWith("interaction.")
  ]
]

/**
 * The format of a call whose path says nothing, such as that of a gateway or of an endpoint with a name of its own: by its answer, or the
 * first events of that, and by its body, which must be one of that format as well. Null where it is none.
 */
export const recogniseByAnswer = (
  url: string | URL,
  body: unknown,
  answers: ReadonlyArray<unknown>,
  betaHeader?: string | null
): WireApi | null => {
  if (!isObject(body)) return null
  const api = isAnswerOf.find(([, isAnswer]) => answers.some(isAnswer))?.[0]
  // What is kept of a call may be sent and answered again: only a call has what the model is to go on from.
  if (api === undefined || !isCallOf[api](body, false)) return null
  return withBeta(api, split(url)[1], body, betaHeader)
}

/** Whether the path of a call says its format. If not, only the body does. */
export const saysFormat = (url: string | URL): boolean => {
  const path = pathOf(url)
  return endpoints.some(({ apis, path: form }) => apis.length === 1 && form.test(path))
}

const isInvoked = (path: string): boolean => /\/invoke[^/]*$/.test(path)

/**
 * Whether a call is one of Converse, which is in none of the formats, and is rebuilt in that which `recognise` says. Nova takes and answers
 * the same itself.
 */
export const isConverse = (url: string | URL): boolean =>
  /\/model\/(?:(?:arn[^/]+\/)?[^/]+\/converse(?:-stream)?|[^/]*amazon\.nova-[^/]+\/invoke(?:-with-response-stream)?)$/.test(
    pathOf(url)
  )

/** Whether a call is answered with a stream: by the content type of the answer, or by the path, whose stream may be an array of JSON. */
export const isStream = (url: string | URL, contentType: string): boolean =>
  /event-?stream|ndjson|jsonl/i.test(contentType) || /:stream\w+$/i.test(pathOf(url))

/** Whether an answer that is no JSON begins as a stream of events does, whatever its content type: some servers name a wrong one. */
export const beginsAsEvents = (body: string): boolean => /^\ufeff?(?:data|event|id|retry)?:/.test(body)

/** Beginnings of streams are told by these many events, of which gateways send some of their own first. */
const maxFirstEvents = 8

/** How much of a stream is read to tell its format (characters). */
export const firstEventsCharacters = 64 * 1024

/** What tells the format of an answer: its JSON, or the first events of one that is a stream. */
export const answersIn = (text: string): ReadonlyArray<unknown> =>
  beginsAsEvents(text) ? firstEvents(text.slice(0, firstEventsCharacters)) : [parsed(text)]

/** The payloads of the first events of a stream that is in JSON, of which `text` has the beginning. */
export const firstEvents = (text: string): ReadonlyArray<unknown> =>
  Array.from(text.matchAll(/(?:^|[\r\n])data:([^\r\n]*)/g), ([, payload = ""]) => payload)
    .slice(0, maxFirstEvents)
    .flatMap((payload) => parsed(payload) ?? [])

/** The model that the path of a call names, as Gemini's, Vertex', Bedrock's and Azure's do; null where it names none. */
export const modelInUrl = (url: string | URL): string | null => modelInPath(pathOf(url))

const modelInPath = (path: string): string | null => {
  const [, tuned, model] =
    /\/(tunedModels\/)?([^/]+):(?:(?:streamG|g)enerateContent|(?:streamR|r)awPredict)$/.exec(path) ??
    /()\/model\/((?:arn[^/]+\/)?[^/]+)\/(?:invoke|converse)[^/]*$/.exec(path) ??
    /()\/deployments\/([^/]+)\/[^/]+(?:\/[^/]+)?$/.exec(path) ??
    []
  if (model === undefined) return null
  const name = `${tuned ?? ""}${decodedOrSame(model)}`
  // No longer than an event may name it.
  return /^[^\0]{0,255}$/.test(name) ? text(name) : null
}
