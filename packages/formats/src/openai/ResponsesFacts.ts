/** What a response was, and on what its price depends. */
import { errorOf } from "../facts/Errors.ts"
import { providerOf } from "../facts/Providers.ts"
import * as StatedCost from "../facts/StatedCost.ts"
import type { Facts, Json, ReadBilling, StopReason, Uncounted } from "../Format.ts"
import { count, get, list, sum, text } from "../json/Read.ts"
import { usageIn } from "../usage/AnswerUsage.ts"
import { searchesIn } from "../usage/Searches.ts"
import { billedOf, tokensOf } from "../usage/Usage.ts"
import { typeOf, wordOf } from "./ResponsesConversation.ts"

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

const isForClient = (item: Json): boolean =>
  clientCalls.has(typeOf(item)) || (typeOf(item) === "tool_search_call" && get(item, "execution") === "client")

/** The name of a call: its own, or what its type says, such as `web_search`. */
const callNameOf = (item: Json): ReadonlyArray<string> => {
  const type = typeOf(item)
  return type.endsWith("_call") ? [text(get(item, "name")) ?? type.slice(0, -"_call".length)] : []
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

export const facts = (inputs: unknown, output: unknown): Facts => {
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
    error_code: error?.code ?? null,
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
