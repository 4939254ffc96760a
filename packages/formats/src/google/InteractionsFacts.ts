/** What an interaction was, and on what its price depends. */
import { errorOf } from "../facts/Errors.ts"
import * as StatedCost from "../facts/StatedCost.ts"
import type { Facts, Json, ReadBilling, StopReason } from "../Format.ts"
import { count, get, list, text } from "../json/Read.ts"
import { usageIn } from "../usage/AnswerUsage.ts"
import { billedOf, tokensOf } from "../usage/Usage.ts"
import { callNameOf, stepsOf, typeOf, wordOf } from "./InteractionsConversation.ts"
import { distinct } from "./Searches.ts"

/** The status of an interaction says why it stopped. Whatever is not here is `other`. */
const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ["completed", "end"],
  ["requires_action", "tool_calls"],
  ["incomplete", "length"],
  ["budget_exceeded", "length"],
  ["requires_continuation", "pause"],
  ["failed", "error"]
])

const isCall = (item: Json): boolean => typeOf(item).endsWith("_call")

export const facts = (inputs: unknown, output: unknown): Facts => {
  const steps = stepsOf(output)
  const word = wordOf(output)
  const error = errorOf(output)
  return {
    provider: "google",
    // An agent stands in place of a model.
    model: text(get(inputs, "model")) ?? text(get(inputs, "agent")),
    response_model: text(get(output, "model")) ?? text(get(output, "agent")),
    ...tokensOf(usageIn(output).counts, "prompt"),
    stop_reason: word === null ? null : (stopReasons.get(word) ?? "other"),
    provider_stop_reason: word,
    tool_calls: Array.isArray(steps) ? list(steps).filter(isCall).map(callNameOf) : null,
    // An interaction that failed without an error is an error all the same.
    error_type: error?.type ?? (word === "failed" ? "unknown" : null),
    error_code: error?.code ?? null,
    error_status: error?.status ?? null
  }
}

export const billing: ReadBilling = (_, output) => {
  const { usage, counts } = usageIn(output)
  const steps = stepsOf(output)
  const counted = list(get(usage, "grounding_tool_count"))
  const countOf = (tool: string) =>
    count(
      get(
        counted.find((item) => get(item, "type") === tool),
        "count"
      )
    )
  const searches = list(steps).filter((item) => typeOf(item) === "google_search_call")
  const queries = searches.flatMap((item) => list(get(item, "arguments", "queries")))
  const isOfMaps = (countOf("google_maps") ?? 0) > 0 || list(steps).some((item) => typeOf(item) === "google_maps_call")
  return {
    service_tier: text(get(output, "service_tier")),
    ...billedOf(counts),
    web_searches: countOf("google_search") ?? (Array.isArray(steps) ? distinct(queries) : null),
    file_searches: null,
    uncounted: isOfMaps ? ["maps"] : [],
    requests: null,
    stated_cost: StatedCost.of(output, usage)
  }
}
