/** OpenAI's responses, and those who speak them. */
import { errorOf } from "../facts/Errors.ts"
import type {
  Conversation,
  ConversationReader,
  Facts,
  Format,
  Json,
  JsonObject,
  Message,
  Part,
  ReadBilling,
  StopReason,
  Uncounted
} from "../Format.ts"
import { count, get, isEmpty, isObject, list, many, rest, sum, text, texts } from "../json/Read.ts"
import { except, partsOfContent, resultOf, textsOf, toolOf } from "./Blocks.ts"
import { argumentsOf, beside, generic, messagesOfItems, messageWith, part } from "../normal/Parts.ts"
import { providerOf } from "../facts/Providers.ts"
import { accumulator } from "./ResponsesStream.ts"
import * as StatedCost from "../facts/StatedCost.ts"
import { running } from "../facts/StopReasons.ts"
import { usageIn } from "../usage/Places.ts"
import { searchesIn } from "../usage/Searches.ts"
import { billedOf, tokensOf } from "../usage/Usage.ts"

/** The word of a status, and of the reasons for which an answer is incomplete. `completed` depends on what was answered. */
const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ["completed", "end"],
  ["max_output_tokens", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content_filter"],
  ["failed", "error"]
])

/** Calls that the client answers. It does so where the output does not hold the answer already. */
const clientCalls: ReadonlySet<string> = new Set([
  ...["function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call"]
])

/** A message may be without its type, and a reference to another item, which has no role. */
const typeOf = (item: Json): string =>
  text(get(item, "type")) ?? (get(item, "id") && !get(item, "role") ? "item_reference" : "")

const isForClient = (item: Json): boolean =>
  clientCalls.has(typeOf(item)) || (typeOf(item) === "tool_search_call" && get(item, "execution") === "client")

/** The name of a call: its own, or what its type says, such as `web_search`. */
const callNameOf = (item: Json): ReadonlyArray<string> => {
  const type = typeOf(item)
  return type.endsWith("_call") ? [text(get(item, "name")) ?? type.slice(0, -"_call".length)] : []
}

const wordOf = (output: unknown): string | null => {
  const status = text(get(output, "status"))
  if (status === null || running.has(status)) return null
  return status === "incomplete" ? (text(get(output, "incomplete_details", "reason")) ?? status) : status
}

const stopReasonOf = (word: string | null, items: ReadonlyArray<Json>): StopReason | null => {
  if (word === null) return null
  const reason = stopReasons.get(word) ?? "other"
  if (reason !== "end") return reason
  const answered = new Set(items.filter((item) => typeOf(item).endsWith("_output")).map((item) => get(item, "call_id")))
  if (items.some((item) => typeOf(item) === "mcp_approval_request")) return "pause"
  if (items.some((item) => isForClient(item) && !answered.has(get(item, "call_id")))) return "tool_calls"
  const isRefusal = items.some((item) => list(get(item, "content")).some((block) => get(block, "type") === "refusal"))
  return isRefusal ? "refusal" : reason
}

const facts = (inputs: unknown, output: unknown): Facts => {
  const items = get(output, "output")
  const word = wordOf(output)
  const error = errorOf(output)
  return {
    provider: providerOf(inputs, output),
    model: text(get(inputs, "model")),
    response_model: text(get(output, "model")),
    ...tokensOf(usageIn(output).counts, "input"),
    stop_reason: stopReasonOf(word, list(items)),
    provider_stop_reason: word,
    tool_calls: Array.isArray(items) ? list(items).flatMap(callNameOf) : null,
    // A failed response without an error is an error all the same.
    error_type: error?.type ?? (word === "failed" ? "unknown" : null),
    error_status: error?.status ?? null
  }
}

const isSearch = (item: Json): boolean =>
  typeOf(item) === "web_search_call" && (get(item, "action", "type") ?? "search") === "search"

/** Calls of the provider's own tools that are paid for beside the tokens. */
const paidCalls: ReadonlyMap<string, Uncounted> = new Map([
  ["code_interpreter_call", "code_interpreter"],
  ["image_generation_call", "images"]
])

/** A shell of the provider's, which is paid for as its code interpreter is. */
const isHosted = (item: Json): boolean =>
  typeOf(item) === "shell_call" && (text(get(item, "environment", "type")) ?? "").startsWith("container")

/** Tools of xAI's that it counts beside the others. */
const otherTools: ReadonlyArray<readonly [key: string, part: Uncounted]> = [
  ["x_search_calls", "web_search"],
  ["code_interpreter_calls", "code_interpreter"]
]

/** Whether a router has searched for a model: its answer cites. OpenAI's own may cite what an earlier call has found. */
const isCitedByRouter = (output: unknown, items: ReadonlyArray<Json>): boolean =>
  !["openai", "azure"].includes(providerOf(null, output) ?? "") &&
  items.some((item) =>
    list(get(item, "content")).some((block) =>
      list(get(block, "annotations")).some((note) => get(note, "type") === "url_citation")
    )
  )

/** Of the output alone: what was asked for may not be what was served. */
export const billing: ReadBilling = (_, output) => {
  const { usage, counts } = usageIn(output)
  const isThere = Array.isArray(get(output, "output"))
  const items = list(get(output, "output"))
  const tools = get(usage, "server_side_tool_usage_details")
  const searches = count(get(tools, "web_search_calls")) ?? searchesIn(usage)
  const files = sum(count(get(tools, "file_search_calls")), count(get(tools, "document_search_calls")))
  const shown = isThere ? items.filter(isSearch).length : null
  return {
    service_tier: text(get(output, "service_tier")),
    ...billedOf(counts),
    web_searches: searches ?? shown,
    file_searches: files ?? (isThere ? items.filter((item) => typeOf(item) === "file_search_call").length : null),
    uncounted: Array.from(
      new Set([
        ...items.flatMap((item) => paidCalls.get(typeOf(item)) ?? (isHosted(item) ? "code_interpreter" : [])),
        ...otherTools.filter(([key]) => (count(get(tools, key)) ?? 0) > 0).map(([, part]) => part),
        ...(!searches && !shown && isCitedByRouter(output, items) ? (["web_search"] as const) : [])
      ])
    ),
    requests: null,
    stated_cost: StatedCost.of(output, usage)
  }
}

const reasoningOf = (item: Json): Part => {
  const [content, summary] = ["content", "summary"].map((key) => textsOf(get(item, key), "\n\n"))
  // What cannot be told as one text is kept as it is.
  const read = [...(content?.isAll ? ["content"] : []), ...(summary?.isAll ? ["summary"] : [])]
  const both = content && summary ? { summary: summary.said } : {}
  return part(
    "reasoning",
    { content: (content ?? summary)?.said, item_id: get(item, "id"), ...both },
    rest(item, except("type", "id", ...read))
  )
}

const callOf = (item: Json): Part => {
  const isCustom = typeOf(item) === "custom_tool_call"
  return part(
    "tool_call",
    {
      id: get(item, "call_id") ?? get(item, "id"),
      name: get(item, "name"),
      arguments: isCustom ? get(item, "input") : argumentsOf(get(item, "arguments")),
      tool_type: isCustom ? "custom" : undefined,
      item_id: get(item, "id")
    },
    rest(item, except("type", "id", "call_id", "name", isCustom ? "input" : "arguments"))
  )
}

const responseOf = (item: Json): Part =>
  part(
    "tool_call_response",
    {
      id: get(item, "call_id"),
      response: resultOf(get(item, "output")),
      tool_type: get(item, "type"),
      item_id: get(item, "id")
    },
    rest(item, except("type", "id", "call_id", "output"))
  )

/** What stands beside the content of a message item. */
const aboutOf = (item: Json, ...read: ReadonlyArray<string>): JsonObject => {
  const names = texts(item, "role").length > 0 ? texts(item, "name") : []
  return rest(item, except("content", ...read, ...texts(item, "type", "role"), ...names))
}

/** The parts of a message item. What stands beside its content stands with the first of them; without a type it may be no message. */
const saidOf = (item: Json): ReadonlyArray<Part> => {
  const id = get(item, "id")
  const about = aboutOf(item, "id")
  const said = partsOfContent(get(item, "content"))
  if (isEmpty(said) && !typeOf(item) && !isEmpty(about)) return [generic(about)]
  return said.map((part, index) =>
    beside(beside(part, isEmpty(id) ? {} : { item_id: id as Json }), index === 0 ? about : {})
  )
}

const partsOf = (item: Json): ReadonlyArray<Part> => {
  switch (typeOf(item)) {
    case "":
    case "message":
      return isObject(item) ? saidOf(item) : partsOfContent(item)
    case "reasoning":
      return [reasoningOf(item)]
    case "function_call":
    case "custom_tool_call":
      return [callOf(item)]
    case "function_call_output":
    case "custom_tool_call_output":
      return [responseOf(item)]
    default:
      return [generic({ type: typeOf(item), ...rest(item, except()) })]
  }
}

/** Whose an item is. Outputs of tools are the client's, but for those that only the provider makes. */
const roleOf = (item: Json): string => {
  const type = typeOf(item)
  if (["", "message", "mcp_approval_response"].includes(type)) return "user"
  if (type === "tool_search_output") return get(item, "execution") === "client" ? "tool" : "assistant"
  return type.endsWith("_output") ? "tool" : "assistant"
}

/** The message that an item is. */
const messageOf = (item: Json): Message => {
  const role = text(get(item, "role"))
  const name = role === null ? null : text(get(item, "name"))
  const parts = partsOf(item)
  // Without content, what stands beside it stands with the message.
  return messageWith({ role: role ?? roleOf(item), parts, name }, null, parts.length > 0 ? {} : aboutOf(item))
}

const inputOf = (input: Json | undefined): ReadonlyArray<Message> =>
  typeof input === "string" ? [{ role: "user", parts: partsOfContent(input) }] : many(input).map(messageOf)

/** Each item of the output is a message, as it is when it is sent back. All else but the error repeats the request, or is a fact. */
const outputOf = (output: unknown): ReadonlyArray<Message> =>
  messagesOfItems(
    many(get(output, "output")).map(messageOf),
    output,
    wordOf(output),
    rest({ error: get(output, "error") ?? null })
  )

const knownOfInputs: ReadonlySet<string> = new Set(["input", "tools", "instructions"])

const instructionsOf = (instructions: Json | undefined): ReadonlyArray<Part> =>
  Array.isArray(instructions) ? instructions.flatMap(partsOf) : partsOfContent(instructions)

const messages = (inputs: unknown, output: unknown): Conversation => ({
  instructions: instructionsOf(get(inputs, "instructions")),
  tools: many(get(inputs, "tools")).map((tool): JsonObject => toolOf(tool)),
  parameters: rest(inputs, knownOfInputs),
  input: inputOf(get(inputs, "input")),
  output: outputOf(output)
})

/** The conversation alone: a bundle that reads no facts need not hold what reads them. */
export const reader: ConversationReader = {
  messages,
  conversationKeys: ["input"],
  element: (element) => [messageOf(element as Json)]
}

export const Responses: Format = {
  facts,
  messages,
  conversationKeys: ["input"],
  element: (element) => [messageOf(element as Json)],
  outputIsChoices: false,
  accumulator
}
