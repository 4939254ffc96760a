/** The conversation of calls of the AI SDK. */
import type { Conversation, ConversationReader, Json, JsonObject, Message } from "../Format.ts"
import { stringify } from "../json/ExactJson.ts"
import { first, get, isEmpty, isObject, list, rest, says, text } from "../json/Read.ts"
import { generic, part } from "../normal/Parts.ts"
import { messageOf, messagesOfContent, partsOf } from "./Parts.ts"
import * as Span from "./Span.ts"
import { stepsOf } from "./Usage.ts"

/** What is at the first of some paths that has a text, in a result or else in its last step. */
export const textIn = (output: unknown, ...paths: ReadonlyArray<ReadonlyArray<string>>): string | null => {
  const sources = [output, stepsOf(output).at(-1)]
  return first(...sources.flatMap((source) => paths.map((path) => text(get(source, ...path)))))
}

/** Where a call or step without content has its answer. */
const plainKeys = ["text", "object", "toolCalls", "toolResults"]
export const answerKeys = ["content", "text", "object", "steps", "toolCalls", "finishReason"]

/**
 * The messages of a step that stands alone: version 6 repeats in it what the steps before it answered. The content is its own,
 * and so are as many messages at the end.
 */
const ownMessages = (step: unknown): ReadonlyArray<Json> => {
  const messages = list(get(step, "response", "messages")).filter(isObject)
  if (!says(step, "stepNumber") || says(step, "performance")) return messages
  const own = messagesOfContent(get(step, "content"), true).filter(({ parts }) => parts.length > 0)
  // All, where the content does not say.
  return messages.slice(-own.length)
}

/** The answer as messages that the next call sends back. Version 7 has those of each step apart, the earlier ones repeat them. */
const answeredMessages = (output: unknown): ReadonlyArray<Json> => {
  const own = list(get(output, "responseMessages")).filter(isObject)
  if (own.length > 0) return own
  const lists = stepsOf(output).map(ownMessages)
  const [last = [], before = []] = lists.toReversed()
  const isRepeated = before.length > 0 && last.length > 0 && stringify(before[0] ?? null) === stringify(last[0] ?? null)
  return isRepeated ? last : lists.flat()
}

/** The answer of a call or step that has neither messages nor content: text, an object, calls of tools and what these answered. */
const plainMessages = (output: unknown): ReadonlyArray<Message> => {
  const object = get(output, "object")
  const answer = text(get(output, "text"))
  const thought = text(get(output, "reasoningText")) ?? text(get(output, "reasoning"))
  const calls = list(get(output, "toolCalls")).filter(isObject)
  const results = list(get(output, "toolResults")).filter(isObject)
  const said = [
    ...(thought === null ? partsOf(list(get(output, "reasoning"))) : [part("reasoning", { content: thought })]),
    ...(answer === null ? [] : [part("text", { content: answer })]),
    // It is what the model's JSON says, and no text that could be sent back.
    ...(object === undefined || object === null ? [] : [generic({ type: "object", object })]),
    ...partsOf(list(get(output, "files")).map((file) => ({ ...rest(file, new Set(["type"])), type: "file", file })))
  ]
  const [called, ...answered] = messagesOfContent(
    [
      ...calls.map((call) => ({ ...call, type: "tool-call" })),
      ...results.map((result) => ({ ...result, type: "tool-result" }))
    ],
    true
  )
  return [{ role: "assistant", parts: [...said, ...called!.parts] }, ...answered]
}

const saidMessages = (output: unknown): ReadonlyArray<Message> => {
  const answered = answeredMessages(output)
  if (answered.length > 0) return answered.map(messageOf)
  const steps = stepsOf(output)
  if (steps.some((step) => Array.isArray(get(step, "content")))) {
    return steps.flatMap((step) => messagesOfContent(get(step, "content"), !says(step, "finishReason", "unified")))
  }
  return (steps.every((step) => plainKeys.some((key) => !isEmpty(get(step, key)))) ? steps : [output]).flatMap(
    plainMessages
  )
}

export const outputOf = (output: unknown): ReadonlyArray<Message> => {
  if (!answerKeys.some((key) => says(output, key))) return []
  const said = saidMessages(output)
  const index = said.findLastIndex(({ role }) => role === "assistant")
  const reason = textIn(output, ["finishReason"], ["finishReason", "unified"])
  const blocks = stepsOf(output).flatMap((step) => list(get(step, "content")))
  const others = {
    id: textIn(output, ["response", "id"], ["responseId"]),
    // Messages that are sent back do not have them.
    sources: blocks.filter((block) => get(block, "type") === "source"),
    ...rest({ sources: get(output, "sources"), error: get(output, "error") } as JsonObject, new Set()),
    providerMetadata: get(output, "providerMetadata") ?? null,
    warnings: get(output, "warnings") ?? null
  }
  return said.map((message, at) =>
    at === index
      ? {
          ...message,
          ...(reason === null ? {} : { finish_reason: reason }),
          ...rest(others, new Set(Object.keys(message)))
        }
      : message
  )
}

export const toolOf = (tool: Json, name?: string): JsonObject => {
  if (!isObject(tool)) return typeof tool === "string" ? { name: tool } : { definition: tool }
  const { inputSchema, parameters, ...others } = tool
  return rest({ name: name ?? null, ...others, parameters: inputSchema ?? parameters ?? null }, new Set())
}

/** Tools are an object by name, or a list of definitions or names. */
const toolsOf = (tools: Json | undefined): ReadonlyArray<JsonObject> =>
  isObject(tools)
    ? Object.entries(tools).map(([name, tool]) => toolOf(tool, name))
    : list(tools).map((tool) => toolOf(tool))

const instructionsOf = (system: Json | undefined) =>
  (Array.isArray(system) ? list(system) : [system ?? null]).flatMap((item) =>
    partsOf(!says(item, "role") ? item : get(item, "content"))
  )

const conversationPaths = [["messages"], ["prompt"]]

const messages = (inputs: unknown, output: unknown): Conversation => {
  const view = Span.inputsOf(inputs)
  const { system, instructions, tools, messages: sent, prompt, ...parameters } = isObject(view) ? view : {}
  const elements = [sent, prompt].find(Array.isArray) as ReadonlyArray<Json> | undefined
  const single = [sent, prompt].filter((item) => item !== undefined && item !== null && item !== "")
  const unread =
    elements === undefined
      ? {}
      : { messages: sent === elements ? null : sent, prompt: prompt === elements ? null : prompt }
  return {
    instructions: [...instructionsOf(instructions), ...instructionsOf(system)],
    tools: toolsOf(tools),
    // The number of a step says nothing of how it was asked.
    parameters: rest({ ...parameters, ...unread } as JsonObject, new Set(["stepNumber"])),
    input: (elements ?? (single as ReadonlyArray<Json>)).map(messageOf),
    output: outputOf(output)
  }
}

export const reader: ConversationReader = {
  messages,
  conversationPaths,
  element: (element) => [messageOf(element as Json)]
}
