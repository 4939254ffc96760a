/** Brings the attributes of the AI SDK's OpenTelemetry spans (versions 4 to 6) into the shape of its arguments and results. */
import type { Json, JsonObject } from "../Format.ts"
import { get, isObject, list } from "../json/Read.ts"
import { argumentsOf } from "../normal/Parts.ts"

/** Attributes are texts, numbers, and lists of them: what is neither is JSON text. */
const parsed = (attributes: JsonObject, key: string): Json | undefined => argumentsOf(get(attributes, key))

const isSpan = (value: unknown): value is JsonObject =>
  isObject(value) && Object.keys(value).some((key) => /^(?:gen_)?ai\./.test(key))

/** Defined fields only. */
const fields = (values: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, Json] => entry[1] !== undefined))

const without = (attributes: JsonObject, heads: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(attributes).filter(([key]) => !heads.some((head) => key.startsWith(head))))

const modelOf = (attributes: JsonObject): JsonObject =>
  fields({
    provider: get(attributes, "ai.model.provider") ?? get(attributes, "gen_ai.system"),
    modelId: get(attributes, "ai.model.id") ?? get(attributes, "gen_ai.request.model")
  })

/** What facts are read from. The prompt is as long as the conversation, so it is not parsed. */
export const calledOf = (inputs: unknown): unknown => (isSpan(inputs) ? { model: modelOf(inputs) } : inputs)

export const inputsOf = (inputs: unknown): unknown => {
  if (!isSpan(inputs)) return inputs
  const prompt = parsed(inputs, "ai.prompt")
  const tools = list(get(inputs, "ai.prompt.tools")).map((tool) => argumentsOf(tool) ?? null)
  return {
    ...without(inputs, ["ai.prompt", "ai.model."]),
    ...(isObject(prompt) ? prompt : fields({ prompt })),
    ...fields({
      messages: parsed(inputs, "ai.prompt.messages"),
      tools: tools.length > 0 ? tools : undefined,
      toolChoice: parsed(inputs, "ai.prompt.toolChoice")
    }),
    model: modelOf(inputs)
  }
}

const usageOf = (output: JsonObject): JsonObject => {
  const head = "ai.usage."
  const names = Object.entries(output).filter(([key]) => key.startsWith(head))
  return {
    ...fields({
      inputTokens: get(output, "gen_ai.usage.input_tokens"),
      outputTokens: get(output, "gen_ai.usage.output_tokens")
    }),
    // Counts in details are told by their last name alone, such as `cacheReadTokens`.
    ...Object.fromEntries(names.map(([key, value]) => [key.slice(key.lastIndexOf(".") + 1), value]))
  }
}

export const outputOf = (output: unknown): unknown => {
  if (!isSpan(output)) return output
  return {
    ...without(output, ["ai.response.", "ai.usage."]),
    ...fields({
      text: get(output, "ai.response.text"),
      reasoningText: get(output, "ai.response.reasoning"),
      object: parsed(output, "ai.response.object"),
      toolCalls: parsed(output, "ai.response.toolCalls"),
      finishReason: get(output, "ai.response.finishReason") ?? get(output, "gen_ai.response.finish_reasons", 0),
      providerMetadata: parsed(output, "ai.response.providerMetadata")
    }),
    usage: usageOf(output),
    response: fields({
      id: get(output, "ai.response.id") ?? get(output, "gen_ai.response.id"),
      modelId: get(output, "ai.response.model") ?? get(output, "gen_ai.response.model"),
      timestamp: get(output, "ai.response.timestamp")
    })
  }
}
