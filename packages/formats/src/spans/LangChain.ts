/** Messages as LangChain serialises them, in the shape of chat completions. */
import type { Json, JsonObject } from "../Format.ts"
import { get, isEmpty, list, rest, says, text } from "../json/Read.ts"

const roles: Readonly<Record<string, string>> = {
  System: "system",
  Human: "user",
  AI: "assistant",
  Tool: "tool",
  Function: "function"
}

const nameOf = (message: unknown): string => text(list(get(message, "id")).at(-1)) ?? ""

export const is = (message: JsonObject): boolean =>
  says(message, "kwargs") && /Message(?:Chunk)?$/.test(nameOf(message))

const callOf = (call: Json): Json => ({
  ...rest({ id: get(call, "id") ?? null }),
  type: "function",
  function: rest({ name: get(call, "name") ?? null, arguments: get(call, "args") ?? null })
})

/** A name is that of the agent, which only a message has that is sent back. */
export const plain = (message: JsonObject): JsonObject => {
  const role =
    roles[nameOf(message).replace(/Message(?:Chunk)?$/, "")] ?? text(get(message, "kwargs", "role")) ?? "user"
  const { content, name, tool_call_id: id } = (get(message, "kwargs") ?? {}) as JsonObject
  const isCalled = list(content).some((block) => get(block, "type") === "tool_use")
  const calls = isCalled ? [] : list(get(message, "kwargs", "tool_calls")).map(callOf)
  const thought = get(message, "kwargs", "additional_kwargs", "reasoning_content")
  return {
    role,
    content: content ?? null,
    ...rest({
      name: role === "assistant" || role === "tool" ? null : (name ?? null),
      tool_call_id: id ?? null,
      reasoning_content: thought ?? null
    }),
    ...(isEmpty(calls) ? {} : { tool_calls: calls })
  }
}
