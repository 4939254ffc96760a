/** What a span that is a call of a model is recorded as: its request and its answer. */
import type { Api } from "@tachograph/formats"
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

/** A text under a name that holds JSON stands there as that JSON, byte for byte. */
const embedded = (key: string, value: Value, attributes: Attributes): Writable =>
  typeof value === "string" && holdsJson(key, (name) => attributes.get(name)) && parsedContainer(value) !== undefined
    ? new JsonText(value)
    : value

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
  const call = verbatimCall(attributes, failed)
  if (call === null) {
    const sides = sidesOf(scope.name, attributes, failed)
    return { api: "aisdk", ...sides, rebuilt: true, verbatim: [] }
  }
  const verbatim = verbatimIn(scope.name, call.isOutputVerbatim)
  return {
    api: call.api,
    inputs: call.inputs,
    output: call.output,
    rebuilt: verbatim.length < 2,
    verbatim
  }
}
