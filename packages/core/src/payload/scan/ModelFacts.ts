/**
 * Reads the model, token counts and stop reason from the payload of a call. The table has the paths of each provider. A
 * field that is missing or not of the expected type is null: it is not a reason to reject the payload.
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
/** Results of the functions and of a middleware's `doGenerate`, which nests its counts and the reason from version 6 on. */
const aisdk: FieldPaths = {
  model: [["response", "modelId"]],
  inputTokens: [
    ["usage", "inputTokens"],
    ["usage", "inputTokens", "total"]
  ],
  outputTokens: [
    ["usage", "outputTokens"],
    ["usage", "outputTokens", "total"]
  ],
  stopReason: [["finishReason"], ["finishReason", "unified"]]
}

/** The model that was requested: its name, or the model object of the AI SDK. */
const requestedModel: ReadonlyArray<Path> = [["model"], ["modelId"], ["model", "modelId"]]

const fieldPathsByApi: Readonly<Record<Api, FieldPaths>> = {
  "provider1-chat-completions": chatCompletions,
  "provider1-responses": responses,
  "provider2-messages": messages,
  "provider2-beta-messages": messages,
  "provider3-models": models,
  "provider3-interactions": interactions,
  aisdk
}

/** All paths that any provider's facts are read from. */
export const paths: { readonly inputs: ReadonlyArray<Path>; readonly output: ReadonlyArray<Path> } = {
  inputs: requestedModel,
  output: Object.values(fieldPathsByApi).flatMap((fields) => Object.values(fields).flat())
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, step) =>
      (Predicate.isObject(inner) || Array.isArray(inner)) && Object.hasOwn(inner, step)
        ? (inner as Record<string | number, unknown>)[step]
        : undefined,
    value
  )

const firstOf = <A>(value: unknown, paths: ReadonlyArray<Path>, isValid: (field: unknown) => field is A): A | null => {
  for (const path of paths) {
    const field = at(value, path)
    if (isValid(field)) return field
  }
  return null
}

/** In UTF-16 units: longer than any real value, and short enough for a column. */
const maxModelLength = 255
const maxStopReasonLength = 100

/** The range of an integer column, and more tokens than any call takes. */
const maxTokens = 2 ** 31 - 1

const isLabel =
  (maxLength: number) =>
  (value: unknown): value is string =>
    Predicate.isString(value) && value.length <= maxLength && value.isWellFormed() && !value.includes("\u0000")

const isModel = isLabel(maxModelLength)
const isStopReason = isLabel(maxStopReasonLength)

const isTokenCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= maxTokens

/** `inputs` and `output` are parsed JSON. The model is that of the output, or else the one that was requested. */
export const read = (api: Api, inputs: unknown, output: unknown): ModelFacts => {
  const paths = fieldPathsByApi[api]
  return {
    model: firstOf(output, paths.model, isModel) ?? firstOf(inputs, requestedModel, isModel),
    inputTokens: firstOf(output, paths.inputTokens, isTokenCount),
    outputTokens: firstOf(output, paths.outputTokens, isTokenCount),
    stopReason: firstOf(output, paths.stopReason, isStopReason)
  }
}
