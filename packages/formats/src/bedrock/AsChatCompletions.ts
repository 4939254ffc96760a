/** Converse as OpenAI's chat completions. */
import type { Json, JsonObject } from "../Format.ts"
import { count, get, isObject, list, sum } from "../json/Read.ts"
import {
  fields,
  generic,
  kindOf,
  mediaTypeOf,
  settingsOf,
  sourceOf,
  textIn,
  tierOf,
  toolIn,
  withMarks,
  writtenFor
} from "./Blocks.ts"

const finishReasons: ReadonlyMap<unknown, string> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["content_filtered", "content_filter"],
  ["guardrail_intervened", "content_filter"]
])

const blockOf = (block: Json): JsonObject | undefined => {
  const [kind, value] = kindOf(block)
  const said = textIn(kind, value)
  if (said !== undefined) return { type: "text", text: said }
  if (kind === "json") return { type: "text", text: JSON.stringify(value) }
  if (kind === "toolUse" || kind === "toolResult" || kind === "reasoningContent") return undefined
  const { data, url } = sourceOf(value)
  if (kind === "image" && (data ?? url) !== undefined)
    return { type: "image_url", image_url: { url: url ?? `data:${mediaTypeOf(kind, value)};base64,${data}` } }
  if (kind === "document" && data !== undefined) {
    const file = fields({ filename: get(value, "name"), file_data: `data:${mediaTypeOf(kind, value)};base64,${data}` })
    return { type: "file", file }
  }
  return generic(kind, value)
}

/** One text alone is that text. */
const contentOf = (content: Json | undefined): Json => {
  const blocks = withMarks(list(content), blockOf)
  const [only] = blocks
  return blocks.length === 1 && only!["type"] === "text" && only!["cache_control"] === undefined
    ? only!["text"]!
    : blocks
}

const valuesOf = (content: Json | undefined, kind: string): ReadonlyArray<Json> =>
  list(content).flatMap((block) => get(block, kind) ?? [])

const textOf = (input: Json | undefined): string => (typeof input === "string" ? input : JSON.stringify(input ?? {}))

const callOf = (use: Json): JsonObject => ({
  id: get(use, "toolUseId") ?? "",
  type: "function",
  function: { name: get(use, "name") ?? "", arguments: textOf(get(use, "input")) }
})

const assistantOf = (content: Json | undefined): JsonObject => {
  const said = contentOf(content)
  const reasoning = valuesOf(content, "reasoningContent").map((each) => get(each, "reasoningText", "text") ?? "")
  const calls = valuesOf(content, "toolUse").map(callOf)
  return {
    role: "assistant",
    content: Array.isArray(said) && said.length === 0 ? null : said,
    ...(reasoning.length === 0 ? {} : { reasoning_content: reasoning.join("") }),
    ...(calls.length === 0 ? {} : { tool_calls: calls })
  }
}

/** Results of tools are messages of their own, before what the user says. */
const messagesOf = (message: Json): ReadonlyArray<JsonObject> => {
  const content = get(message, "content")
  const role = get(message, "role") ?? "user"
  if (role === "assistant") return [assistantOf(content)]
  const results = valuesOf(content, "toolResult").map((result) => ({
    role: "tool",
    tool_call_id: get(result, "toolUseId") ?? "",
    content: contentOf(get(result, "content"))
  }))
  const said = contentOf(content)
  return results.length > 0 && Array.isArray(said) && said.length === 0
    ? results
    : [...results, { role, content: said }]
}

const toolOf = (tool: Json): JsonObject => {
  const own = toolIn(tool)
  if (own === undefined) return generic(...kindOf(tool))
  return {
    type: "function",
    function: fields({ name: own.name, description: own.description, parameters: own.schema })
  }
}

const choiceOf = (choice: Json | undefined): Json | undefined => {
  if (!isObject(choice)) return undefined
  const [kind, value] = kindOf(choice)
  if (kind === "tool") return { type: "function", function: { name: get(value, "name") ?? "" } }
  return kind === "any" ? "required" : kind
}

/** `model` is that of the path. */
export const request = (converse: JsonObject, model: string | null): JsonObject => {
  const system = contentOf(converse["system"])
  const hasSystem = typeof system === "string" || (Array.isArray(system) && system.length > 0)
  return {
    ...fields({
      model,
      ...settingsOf(converse),
      stop: get(converse, "inferenceConfig", "stopSequences"),
      tools: withMarks(list(get(converse, "toolConfig", "tools")), toolOf),
      tool_choice: choiceOf(get(converse, "toolConfig", "toolChoice"))
    }),
    messages: [
      ...(hasSystem ? [{ role: "system", content: system }] : []),
      ...list(converse["messages"]).flatMap(messagesOf)
    ]
  }
}

/** Bedrock counts beside the input what was read from a cache and written to it; this format counts it within. */
const usageOf = (usage: Json | undefined): JsonObject => {
  const of = (key: string) => count(get(usage, key))
  const [read, wrote] = [of("cacheReadInputTokens"), of("cacheWriteInputTokens")]
  const prompt = sum(of("inputTokens"), read, wrote)
  const details = {
    cached_tokens: read,
    cache_write_tokens: wrote,
    cache_write_1h_tokens: writtenFor(usage, "1h")
  }
  return fields({
    prompt_tokens: prompt,
    completion_tokens: of("outputTokens"),
    total_tokens: sum(prompt, of("outputTokens")),
    prompt_tokens_details: fields(details)
  })
}

export const answer = (converse: JsonObject, model: string | null): JsonObject => {
  const { output, serviceTier: _tier, stopReason, usage, ...others } = converse
  return {
    object: "chat.completion",
    ...(model === null ? {} : { model }),
    choices: [
      {
        index: 0,
        message: assistantOf(get(output, "message", "content")),
        finish_reason: finishReasons.get(stopReason) ?? stopReason ?? null
      }
    ],
    ...(usage === undefined ? {} : { usage: usageOf(usage) }),
    ...fields({ service_tier: tierOf(converse) }),
    ...others
  }
}
