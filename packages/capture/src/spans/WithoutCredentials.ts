/** Masks credentials in what OpenTelemetry tells, before any of it is recorded or waits. */
import * as Call from "../masking/Call.ts"
import { credentialsOf, inJson, isNamed, mask, parametersOf } from "../masking/Credentials.ts"
import * as Places from "../masking/Places.ts"
import * as Steps from "../masking/Steps.ts"
import { parsedContainer } from "./JsonText.ts"
import type { Attributes, SpanEvent, Value } from "./Span.ts"

/** Where attributes hold credentials whose texts are JSON: those with bodies, tools and headers. */
const places: ReadonlyMap<string, Places.Place> = new Map(
  Object.entries<Places.Place>({
    // Claude Code.
    body: Places.ofBody,
    "input.value": Places.ofBody,
    "llm.invocation_parameters": Places.ofBody,
    "langfuse.observation.input": Places.ofBody,
    "langfuse.observation.model.parameters": Places.ofBody,
    "gen_ai.tool.definitions": { [Places.each]: Places.ofTool },
    "gen_ai.request.available_tools": { [Places.each]: Places.ofTool },
    "genkit:input": { tools: { [Places.each]: Places.ofTool }, config: "named" },
    "mastra.metadata.headers": "named"
  })
)

/** Headers may be lists of texts. */
const withoutNamed = (value: Value): Value => {
  if (typeof value === "string") return mask
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value.map(() => mask) : value
}

const textsOf = (value: Value): ReadonlyArray<string> =>
  (Array.isArray(value) ? value : [value]).filter((item) => typeof item === "string")

/** What the request was sent with, as far as the attributes repeat it. */
const secretsIn = (attributes: Attributes): ReadonlyArray<string> => {
  const headers: Array<[string, string]> = []
  const parameters: Array<readonly [string, string]> = []
  for (const [key, value] of attributes) {
    const header = /\.headers?\.([^.]+)$/.exec(key)?.[1]
    if (header !== undefined) for (const said of textsOf(value)) headers.push([header, said])
    if (/^(?:url|http)\.(?:full|url|query|target)$/.test(key)) {
      for (const said of textsOf(value))
        parameters.push(...parametersOf(said.replace(/^[^?]*\?/s, "").replace(/#.*$/s, "")))
    }
  }
  return headers.length + parameters.length === 0 ? [] : credentialsOf(headers, parameters)
}

const [encoder, decoder] = [new TextEncoder(), new TextDecoder("utf-8", { ignoreBOM: true })]

/** A JSON text without credentials. One that takes too long to look through is left out. */
const maskedJson = (credentials: ReadonlyArray<string>, text: string, place: Places.Place): string => {
  const head = `{"v":`
  const values = { credentials, suspects: [] }
  const wrapped = encoder.encode(`${head}${text}}`)
  const call = Steps.run(Call.masked(values, wrapped, encoder.encode("{}"), undefined, { v: place }))
  if (call === undefined) return "{}"
  return call.count === 0 ? text : decoder.decode(call.inputs).slice(head.length, -1)
}

/** A text in which a credential may stand in any form that JSON or a URL has for it. */
const hiding = (credentials: ReadonlyArray<string>) => {
  const forms = credentials.flatMap((credential) => inJson(credential)).toSorted((a, b) => b.length - a.length)
  return (text: string): string => forms.reduce((hidden, form) => hidden.replaceAll(form, mask), text)
}

const mapTexts = (value: Value, hide: (text: string) => string): Value => {
  if (typeof value === "string") return hide(value)
  if (Array.isArray(value)) return value.map((item: Value) => mapTexts(item, hide))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item as Value, hide)]))
}

interface Told {
  readonly attributes: Attributes
  readonly events?: ReadonlyArray<SpanEvent>
  readonly status?: { readonly code: number; readonly message: string }
  readonly body?: Value
}

/** A span or a log record without the credentials that its request was sent with, as far as its attributes tell them. */
export const withoutCredentials = <A extends Told>(told: A): A => {
  const credentials = secretsIn(told.attributes)
  const hide = hiding(credentials)
  const masked = (attributes: Attributes): Attributes =>
    new Map(
      Array.from(attributes, ([key, value]): readonly [string, Value] => {
        if (isNamed(key)) return [key, withoutNamed(value)]
        const place = places.get(key)
        if (place !== undefined && typeof value === "string" && parsedContainer(value) !== undefined)
          return [key, maskedJson(credentials, value, place)]
        return [key, credentials.length === 0 ? value : mapTexts(value, hide)]
      })
    )
  const { attributes, body, events, status } = told
  return {
    ...told,
    attributes: masked(attributes),
    ...(events === undefined
      ? {}
      : { events: events.map((event) => ({ ...event, attributes: masked(event.attributes) })) }),
    ...(status === undefined ? {} : { status: { ...status, message: hide(status.message) } }),
    ...(body === undefined ? {} : { body: mapTexts(body, hide) })
  }
}
