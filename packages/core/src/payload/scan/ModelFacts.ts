/**
 * Reads out of a call's payload what people filter and add up. The providers put it in different places; one table says
 * where. What is not there, or not of the expected type, is null: a payload is never refused for it.
 */
import { Predicate } from "effect"
import type { Api, ModelFacts } from "../../domain/Event.ts"

type Path = ReadonlyArray<string | number>
type FieldPaths = Readonly<Record<keyof ModelFacts, ReadonlyArray<Path>>>

const chatCompletions: FieldPaths = {
  model: [["model"]],
  inputTokens: [["usage", "prompt_tokens"]],
  outputTokens: [["usage", "completion_tokens"]],
  stopReason: [["choices", 0, "finish_reason"]]
}
const responses: FieldPaths = {
  model: [["model"]],
  inputTokens: [["usage", "input_tokens"]],
  outputTokens: [["usage", "output_tokens"]],
  stopReason: [["incomplete_details", "reason"], ["status"]]
}
const messages: FieldPaths = {
  model: [["model"]],
  inputTokens: [["usage", "input_tokens"]],
  outputTokens: [["usage", "output_tokens"]],
  stopReason: [["stop_reason"]]
}
const models: FieldPaths = {
  model: [["modelVersion"], ["model_version"]],
  inputTokens: [
    ["usageMetadata", "promptTokenCount"],
    ["usage_metadata", "prompt_token_count"]
  ],
  outputTokens: [
    ["usageMetadata", "candidatesTokenCount"],
    ["usage_metadata", "candidates_token_count"]
  ],
  stopReason: [
    ["candidates", 0, "finishReason"],
    ["candidates", 0, "finish_reason"]
  ]
}
const interactions: FieldPaths = {
  model: [["model"]],
  inputTokens: [["usage", "total_input_tokens"]],
  outputTokens: [["usage", "total_output_tokens"]],
  stopReason: [["status"]]
}
const aisdk: FieldPaths = {
  model: [["response", "modelId"]],
  inputTokens: [["usage", "inputTokens"]],
  outputTokens: [["usage", "outputTokens"]],
  stopReason: [["finishReason"]]
}

const fieldPathsByApi: Readonly<Record<Api, FieldPaths>> = {
  "provider1-chat-completions": chatCompletions,
  "provider1-responses": responses,
  "provider2-messages": messages,
  "provider2-beta-messages": messages,
  "provider3-models": models,
  "provider3-interactions": interactions,
  aisdk
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, step) =>
      (Predicate.isObject(inner) || Array.isArray(inner)) && Object.hasOwn(inner, step)
        ? (inner as Record<string | number, unknown>)[step]
        : undefined,
    value
  )

const firstOf = <A>(value: unknown, places: ReadonlyArray<Path>, is: (found: unknown) => found is A): A | null => {
  for (const path of places) {
    const found = at(value, path)
    if (is(found)) return found
  }
  return null
}

/** Longer than any name of a model, and than any reason to stop; short enough for a column. UTF-16 units. */
const maxModel = 255
const maxStopReason = 100

/** More than any call takes, and what fits a column. */
const maxCount = 2 ** 31 - 1

const isLabel =
  (maxLength: number) =>
  (value: unknown): value is string =>
    Predicate.isString(value) && value.length <= maxLength && value.isWellFormed() && !value.includes("\u0000")

const isModel = isLabel(maxModel)
const isStopReason = isLabel(maxStopReason)

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= maxCount

/** Takes both halves as parsed. */
export const read = (api: Api, inputs: unknown, output: unknown): ModelFacts => {
  const places = fieldPathsByApi[api]
  return {
    model: firstOf(output, places.model, isModel) ?? firstOf(inputs, [["model"]], isModel),
    inputTokens: firstOf(output, places.inputTokens, isCount),
    outputTokens: firstOf(output, places.outputTokens, isCount),
    stopReason: firstOf(output, places.stopReason, isStopReason)
  }
}
