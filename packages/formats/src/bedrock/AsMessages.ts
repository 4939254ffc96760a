/** Converse as Anthropic's messages. */
import type { Json, JsonObject } from "../Format.ts"
import { get, isObject, list } from "../json/Read.ts"
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

const mediaOf = (kind: string, value: Json): JsonObject => {
  const { data, url } = sourceOf(value)
  const said = get(value, "source", "text")
  const type = mediaTypeOf(kind, value)
  const stored = data === undefined ? { type: "url", url } : { type: "base64", media_type: type, data }
  const source = fields(typeof said === "string" ? { type: "text", media_type: "text/plain", data: said } : stored)
  const about = fields({
    title: get(value, "name"),
    context: get(value, "context"),
    citations: get(value, "citations")
  })
  return { type: kind, source, ...about }
}

const reasoningOf = (value: Json): JsonObject => {
  const said = get(value, "reasoningText")
  return said === undefined
    ? { type: "redacted_thinking", data: get(value, "redactedContent") ?? "" }
    : { type: "thinking", thinking: get(said, "text") ?? "", signature: get(said, "signature") ?? "" }
}

const resultOf = (value: Json): JsonObject => ({
  type: "tool_result",
  tool_use_id: get(value, "toolUseId") ?? "",
  content: contentOf(get(value, "content")),
  ...(get(value, "status") === "error" ? { is_error: true } : {})
})

const blockOf = (block: Json): JsonObject => {
  const [kind, value] = kindOf(block)
  const said = textIn(kind, value)
  if (said !== undefined)
    return { type: "text", text: said, ...fields({ citations: get(value, "citations") ?? get(block, "citations") }) }
  switch (kind) {
    case "image":
    case "document":
      return mediaOf(kind, value)
    case "toolUse":
      return {
        type: "tool_use",
        id: get(value, "toolUseId") ?? "",
        name: get(value, "name") ?? "",
        input: get(value, "input") ?? {}
      }
    case "toolResult":
      return resultOf(value)
    case "json":
      return { type: "text", text: JSON.stringify(value) }
    case "reasoningContent":
      return reasoningOf(value)
    default:
      return generic(kind, value)
  }
}

const contentOf = (content: Json | undefined): ReadonlyArray<JsonObject> => withMarks(list(content), blockOf)

const choiceOf = (choice: Json | undefined): JsonObject | undefined => {
  if (!isObject(choice)) return undefined
  const [type, value] = kindOf(choice)
  return { type, ...fields({ name: get(value, "name") }) }
}

const toolOf = (tool: Json): JsonObject => {
  const own = toolIn(tool)
  return own === undefined
    ? generic(...kindOf(tool))
    : fields({ name: own.name, description: own.description, input_schema: own.schema })
}

/** `model` is that of the path. */
export const request = (converse: JsonObject, model: string | null): JsonObject => ({
  ...fields({
    model,
    // As the calls of Bedrock have it, whose provider it names.
    anthropic_version: "bedrock-2023-05-31",
    system: contentOf(converse["system"]),
    ...settingsOf(converse),
    stop_sequences: get(converse, "inferenceConfig", "stopSequences"),
    tools: withMarks(list(get(converse, "toolConfig", "tools")), toolOf),
    tool_choice: choiceOf(get(converse, "toolConfig", "toolChoice"))
  }),
  messages: list(converse["messages"]).map((message) => ({
    role: get(message, "role") ?? "user",
    content: contentOf(get(message, "content"))
  }))
})

const usageOf = (usage: Json | undefined): JsonObject => {
  const [short, long] = [writtenFor(usage, "5m"), writtenFor(usage, "1h")]
  return fields({
    input_tokens: get(usage, "inputTokens"),
    cache_creation_input_tokens: get(usage, "cacheWriteInputTokens"),
    cache_read_input_tokens: get(usage, "cacheReadInputTokens"),
    cache_creation:
      short === undefined && long === undefined
        ? undefined
        : { ephemeral_5m_input_tokens: short ?? 0, ephemeral_1h_input_tokens: long ?? 0 },
    output_tokens: get(usage, "outputTokens")
  })
}

export const answer = (converse: JsonObject, model: string | null): JsonObject => {
  const { output, serviceTier: _tier, stopReason, usage, ...others } = converse
  return {
    type: "message",
    role: get(output, "message", "role") ?? "assistant",
    ...(model === null ? {} : { model }),
    content: contentOf(get(output, "message", "content")),
    stop_reason: stopReason ?? null,
    ...(usage === undefined ? {} : { usage: { ...usageOf(usage), ...fields({ service_tier: tierOf(converse) }) } }),
    ...others
  }
}
