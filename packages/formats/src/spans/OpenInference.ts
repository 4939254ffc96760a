/** Messages as OpenInference has them, in the shape of chat completions or of Anthropic's messages. */
import type { Json, JsonObject } from "../Format.ts"
import { get, isEmpty, list, rest, text } from "../json/Read.ts"
import { argumentsOf } from "../normal/Parts.ts"

export const is = (message: JsonObject): boolean => Object.keys(message).some((key) => key.startsWith("message."))

const callOf = (call: Json): JsonObject => ({
  ...rest({ id: get(call, "tool_call.id") ?? null }),
  type: "function",
  function: rest({
    name: get(call, "tool_call.function.name") ?? null,
    arguments: get(call, "tool_call.function.arguments") ?? null
  })
})

const blockOf = (block: Json): ReadonlyArray<JsonObject> => {
  const type = text(get(block, "message_content.type"))
  const said = text(get(block, "message_content.text"))
  const image = text(get(block, "message_content.image.image.url"))
  if (image !== null) return [{ type: "image_url", image_url: { url: image } }]
  if (type === "tool_use") {
    const { function: called, id } = callOf(block)
    const input = argumentsOf(get(called, "arguments")) ?? {}
    return [{ type: "tool_use", ...rest({ id: id ?? null, name: get(called, "name") ?? null }), input }]
  }
  if (said === null) return []
  return type === "reasoning"
    ? [{ type: "thinking", thinking: said, ...rest({ signature: get(block, "message_content.signature") ?? null }) }]
    : [{ type: "text", text: said }]
}

export const plain = (message: JsonObject): JsonObject => {
  const blocks = list(message["message.contents"]).flatMap(blockOf)
  const isCalled = blocks.some((block) => block["type"] === "tool_use")
  const calls = list(message["message.tool_calls"])
    .map(callOf)
    .filter((call) => !isEmpty(call["function"]))
  return {
    role: text(message["message.role"]) ?? "assistant",
    content: blocks.length > 0 ? blocks : (message["message.content"] ?? null),
    ...rest({ name: message["message.name"] ?? null, tool_call_id: message["message.tool_call_id"] ?? null }),
    ...(isCalled || calls.length === 0 ? {} : { tool_calls: calls })
  }
}
