/** What a call of the AI SDK was, and on what its price depends. */
import * as Anthropic from "../anthropic/StopReasons.ts"
import { errorOf, type ProviderError } from "../facts/Errors.ts"
import type { Facts, Json, ReadBilling, StopReason } from "../Format.ts"
import * as Google from "../google/StopReasons.ts"
import { first, get, isEmpty, isObject, list, text } from "../json/Read.ts"
import { billingOf } from "./Billing.ts"
import { answerKeys, textIn } from "./Conversation.ts"
import * as Span from "./Span.ts"
import { stepsOf, tokensOf } from "./Usage.ts"

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ["stop", "end"],
  ["length", "length"],
  ["tool-calls", "tool_calls"],
  ["content-filter", "content_filter"],
  ["error", "error"]
])

/** Provider's words that say what the SDK's word for them does not. */
const isTold: ReadonlySet<StopReason | undefined> = new Set(["pause", "refusal", "error"])

const stopReasonOf = (word: string | null, raw: string | null): StopReason | null => {
  const told = raw === null ? undefined : (Anthropic.stopReasons.get(raw) ?? Google.stopReasons.get(raw))
  if (isTold.has(told)) return told!
  return word === null ? null : (stopReasons.get(word) ?? "other")
}

/** Names of providers that price lists know by another one. */
const providers: ReadonlyMap<string, string> = new Map([
  ["amazon-bedrock", "aws"],
  ["bedrock", "aws"],
  ...["az", "azure-openai", "azure_openai", "azure-anthropic"].map((name) => [name, "azure"] as const),
  ...[
    "google-vertex",
    "vertex",
    "googleVertex",
    "vertex_ai",
    "vertexai",
    "gcp",
    "gemini",
    "googleai",
    "google_genai"
  ].map((name) => [name, "google"] as const),
  ["mistral_ai", "mistral"],
  ["moonshot_ai", "moonshotai"],
  ["togetherai", "together"],
  ["together_ai", "together"],
  ["xai", "x-ai"],
  ["x_ai", "x-ai"]
])

export const nameOfProvider = (name: string | null): string | null => {
  const [head = ""] = (name ?? "").split(".")
  return head === "" ? null : (providers.get(head) ?? head)
}

const modelsOf = (inputs: unknown, output: unknown) => {
  const asked = [get(inputs, "model", "modelId"), get(inputs, "model"), get(inputs, "modelId")].map(text)
  const told = textIn(output, ["model", "modelId"], ["request", "body", "model"])
  return {
    model: first(...asked, told),
    response_model: textIn(
      output,
      ["response", "modelId"],
      ["modelId"],
      ["response", "body", "model"],
      ["response", "body", "modelVersion"]
    )
  }
}

const providerOf = (inputs: unknown, output: unknown): string | null => {
  const asked = [get(inputs, "model", "provider"), get(inputs, "provider")].map(text)
  const name = first(...asked, textIn(output, ["model", "provider"], ["provider"]))
  const { model } = modelsOf(inputs, output)
  // Vercel's gateway serves models of all providers, and their names tell which.
  const isRouted = model?.includes("/") === true && (name === null || name.startsWith("gateway"))
  if (isRouted) return nameOfProvider(model?.split("/")[0] ?? null)
  if (name !== null) return nameOfProvider(name)
  const metadata = stepsOf(output)
    .map((step) => get(step, "providerMetadata"))
    .find((value) => !isEmpty(value))
  return nameOfProvider(isObject(metadata) ? (Object.keys(metadata)[0] ?? null) : null)
}

/** The tool calls of one step: in its content from version 5 on. */
const callsOf = (step: unknown): ReadonlyArray<Json> => {
  const content = get(step, "content")
  if (!Array.isArray(content)) return list(get(step, "toolCalls"))
  return list(content).filter((block) => get(block, "type") === "tool-call")
}

/** The type of an error: the provider's where it is told, else its status, else the name of its class. */
const errorIn = (output: unknown): ProviderError | null => {
  // After retries, the SDK's error holds the last one of them.
  const failed = get(output, "error", "lastError") ?? get(output, "error")
  const error = errorOf(isEmpty(failed) ? output : { error: failed as Json })
  if (error === null) return null
  const inner = errorOf(get(failed, "data"))
  const type = [inner?.type, error.type].find((name) => name !== undefined && name !== "unknown")
  const name = text(get(failed, "name")) ?? text(get(output, "error", "name"))
  return {
    type: type ?? name ?? "unknown",
    code: first(inner?.code, error.code),
    status: first(error.status, inner?.status)
  }
}

export const facts = (inputs: unknown, output: unknown): Facts =>
  readFacts(Span.calledOf(inputs), Span.outputOf(output))

const readFacts = (inputs: unknown, output: unknown): Facts => {
  const error = errorIn(output)
  const reason = textIn(output, ["finishReason"], ["finishReason", "unified"])
  const raw = textIn(output, ["rawFinishReason"], ["finishReason", "raw"])
  const calls = stepsOf(output).flatMap((step) => callsOf(step).map((call) => text(get(call, "toolName"))))
  const isAnswer = answerKeys.some((key) => !isEmpty(get(output, key)) || Array.isArray(get(output, key)))
  return {
    provider: providerOf(inputs, output),
    ...modelsOf(inputs, output),
    ...tokensOf(output),
    stop_reason: stopReasonOf(reason, raw),
    provider_stop_reason: raw ?? reason,
    tool_calls: isAnswer ? calls.filter((name) => name !== null) : null,
    error_type: error?.type ?? null,
    error_code: error?.code ?? null,
    error_status: error?.status ?? null
  }
}

export const billing: ReadBilling = (_, output) => billingOf(Span.outputOf(output))
