/** What a span that is a call of a model is recorded as: its request and its answer. */
import type { Api } from "@tachograph/formats"
import * as Call from "../masking/Call.ts"
import { credentialsOf, isNamed, mask, parametersOf } from "../masking/Credentials.ts"
import * as Places from "../masking/Places.ts"
import * as Steps from "../masking/Steps.ts"
import { jsonOf, JsonText, parsedContainer, type Writable } from "./JsonText.ts"
import { fold } from "./Lists.ts"
import type { CallError } from "./Outcome.ts"
import { holdsJson, isOfAnswer } from "./Sides.ts"
import type { Attributes, Span, Value } from "./Span.ts"
import { verbatimCall } from "./Verbatim.ts"

export interface Payload {
  readonly api: Api
  /** JSON texts. */
  readonly inputs: string
  readonly output: string
  /** Whether anything of it was put together from attributes. */
  readonly rebuilt: boolean
  /** What stood on the span byte for byte as the provider had it. */
  readonly verbatim: ReadonlyArray<"inputs" | "output">
}

/** Whose bodies were compared with the wire, byte for byte. Those of other languages are written anew. */
const exactScopes = /^@arizeai\/openinference-instrumentation-(?:openai|anthropic)$/

const verbatimIn = (scope: string, isOutputVerbatim: boolean): Payload["verbatim"] => {
  if (!exactScopes.test(scope)) return []
  return isOutputVerbatim ? ["inputs", "output"] : ["inputs"]
}

/** An attribute that both objects begin with, because it says whose attributes they are. */
const scopeKey = "otel.scope.name"

/** Where attributes hold credentials: those with bodies, tools and headers. */
const places: Places.Place = {
  "input.value": Places.ofBody,
  "llm.invocation_parameters": Places.ofBody,
  "langfuse.observation.input": Places.ofBody,
  "langfuse.observation.model.parameters": Places.ofBody,
  "gen_ai.tool.definitions": { [Places.each]: Places.ofTool },
  "gen_ai.request.available_tools": { [Places.each]: Places.ofTool },
  "genkit:input": { tools: { [Places.each]: Places.ofTool }, config: "named" },
  "mastra.metadata.headers": "named"
}

/** Texts of credentials are masked by the names of their attributes; headers may be lists of texts. */
const withoutCredential = (key: string, value: Value): Value => {
  if (!isNamed(key)) return value
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

/** Both texts without credentials. What takes too long to look through is left out. */
const masked = (credentials: ReadonlyArray<string>, inputs: string, output: string, place: Places.Place) => {
  const values = { credentials, suspects: [] }
  const call = Steps.run(Call.masked(values, encoder.encode(inputs), encoder.encode(output), undefined, place))
  if (call === undefined) return { inputs: "{}", output: "{}" }
  return call.count === 0
    ? { inputs, output }
    : { inputs: decoder.decode(call.inputs), output: decoder.decode(call.output) }
}

/** A text under a name that holds JSON stands there as that JSON, byte for byte. */
const embedded = (key: string, value: Value, attributes: Attributes): Writable =>
  typeof value === "string" && holdsJson(key, (name) => attributes.get(name)) && parsedContainer(value) !== undefined
    ? new JsonText(value)
    : withoutCredential(key, value)

/** The attributes of both sides, as they came. */
const sidesOf = (scope: string, attributes: Attributes, error: Writable | undefined) => {
  const sides = [
    new Map<string, Writable>([[scopeKey, scope]]),
    new Map<string, Writable>([[scopeKey, scope]])
  ] as const
  for (const [key, value] of fold(attributes)) {
    if (key !== scopeKey) sides[isOfAnswer(key) ? 1 : 0].set(key, embedded(key, value, attributes))
  }
  if (error !== undefined) sides[1].set("error", error)
  return { inputs: jsonOf(sides[0]), output: jsonOf(sides[1]) }
}

/**
 * The payload of a call. `error` is why it failed, and `further` are attributes of other spans and of logs that tell more of it; where both
 * have one, its own counts. Takes any attributes, and never throws.
 */
export const payloadOf = (
  { attributes: own, scope }: Pick<Span, "attributes" | "scope">,
  error?: CallError | null,
  further?: Attributes
): Payload => {
  const attributes = further === undefined || further.size === 0 ? own : new Map([...further, ...own])
  const failed = error
    ? new Map<string, Writable>([
        ["type", error.type],
        ["message", error.message]
      ])
    : undefined
  const secrets = secretsIn(attributes)
  const call = verbatimCall(attributes, failed)
  if (call === null) {
    const sides = sidesOf(scope.name, attributes, failed)
    return { api: "aisdk", ...masked(secrets, sides.inputs, sides.output, places), rebuilt: true, verbatim: [] }
  }
  const verbatim = verbatimIn(scope.name, call.isOutputVerbatim)
  return {
    api: call.api,
    ...masked(secrets, call.inputs, call.output, Places.ofBody),
    rebuilt: verbatim.length < 2,
    verbatim
  }
}
