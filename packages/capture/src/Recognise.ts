/** Tells model calls from other requests on the wire, whatever host they go to. */
import * as Bedrock from "@tachograph/formats/bedrock/Paths"
import type { WireApi } from "@tachograph/formats/Format"
import * as Google from "@tachograph/formats/google/Paths"
import { get, isEmpty, isObject, parsed, text } from "@tachograph/formats/json/Read"
import { wireApis, wireFormats } from "@tachograph/formats/WireFormats"
import { decodedOrSame } from "./PercentDecoding.ts"

/** Formats of models of other makers, of which the body says the right one. */
const ofAnyMaker: ReadonlyArray<WireApi> = ["provider1-chat-completions", "provider2-messages"]

/** The formats that a path may be one of; without a body, the first. */
const apisOf = (path: string): ReadonlyArray<WireApi> => {
  const api = wireApis.find((each) => wireFormats[each].paths.some((form) => form.test(path)))
  if (api !== undefined) return [api]
  const maker = Bedrock.makerOf(path) ?? Google.makerOf(path)
  if (maker === undefined) return []
  return maker === "anthropic" ? ["provider2-messages"] : ofAnyMaker
}

/**
 * Vertex and Bedrock want a version in the body of calls to models of Anthropic, and of these alone. Converse takes in
 * `additionalModelRequestFields` what only some models understand.
 */
const isForAnthropic = (body: unknown): boolean => {
  const fields = get(body, "additionalModelRequestFields")
  return [get(body, "anthropic_version"), get(fields, "thinking"), get(fields, "anthropic_beta")].some(
    (value) => !isEmpty(value)
  )
}

/** Path and query of an address, which may lack its host. */
const split = (url: string | URL): readonly [path: string, query: string] => {
  const [address = "", query = ""] = `${url}`.replace(/#.*$/s, "").split(/\?(.*)/s)
  return [address.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, "").replace(/\/$/, ""), query]
}

/** The path of an address, without a slash at its end. */
export const pathOf = (url: string | URL): string => split(url)[0]

/** The name of a format that has two. */
const named = (api: WireApi, query: string, body: unknown, betaHeader: string | null | undefined): WireApi => {
  const { variant } = wireFormats[api]
  return variant?.is({ query, body, betaHeader }) === true ? variant.api : api
}

/**
 * The format of a request to be sent by POST; null where it is no model call. `body` is its JSON, as text or parsed; without
 * it, the path alone decides. `betaHeader` is the header `anthropic-beta`.
 */
export const recognise = (url: string | URL, body?: unknown, betaHeader?: string | null): WireApi | null => {
  const [path, query] = split(url)
  const [first, ...others] = apisOf(path)
  if (first === undefined) return null
  const said = typeof body === "string" ? parsed(body) : body
  const api = isForAnthropic(said) && others.includes("provider2-messages") ? "provider2-messages" : first
  const isKnown = body !== undefined && body !== null
  if (isKnown && !(isObject(said) && wireFormats[api].isCall(said, modelInPath(path) !== null))) return null
  if (isUnknownNova(path, api, said)) return null
  return named(api, query, said, betaHeader)
}

/** Whether a call of Bedrock is in the form of Nova's, and its path does not say that it is one. */
const isUnknownNova = (path: string, api: WireApi, body: unknown): boolean =>
  api === "provider1-chat-completions" &&
  Bedrock.makerOf(path) !== undefined &&
  !Bedrock.isConverse(path) &&
  Bedrock.isOfNova(body)

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
  const api = wireApis.find((each) => answers.some(wireFormats[each].isAnswer))
  // What is kept of a call may be sent and answered again: only a call has what the model is to go on from.
  if (api === undefined || !wireFormats[api].isCall(body, false)) return null
  return named(api, split(url)[1], body, betaHeader)
}

/** Whether the path of a call says its format. If not, only the body does. */
export const saysFormat = (url: string | URL): boolean => apisOf(pathOf(url)).length === 1

/** Whether a call is one of Converse, which is rebuilt in the format that `recognise` says. */
export const isConverse = (url: string | URL): boolean => Bedrock.isConverse(pathOf(url))

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

/** The deployment, which has a name of its own. */
const modelAtAzure = (path: string): string | undefined => /\/deployments\/([^/]+)\/[^/]+(?:\/[^/]+)?$/.exec(path)?.[1]

const modelInPath = (path: string): string | null => {
  const model = Google.modelIn(path) ?? Bedrock.modelIn(path) ?? modelAtAzure(path)
  const name = model === undefined ? null : decodedOrSame(model)
  // No longer than an event may name it.
  return name !== null && /^[^\0]{0,255}$/.test(name) ? text(name) : null
}
