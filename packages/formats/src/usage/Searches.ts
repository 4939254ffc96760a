/** How often the web was searched, as a usage says it in any dialect. */
import { count, get } from "../json/Read.ts"

/** Of Perplexity; of Anthropic, and of gateways that hand its counts on; and of LiteLLM, for models of Google. */
const places: ReadonlyArray<ReadonlyArray<string>> = [
  ["num_search_queries"],
  ["server_tool_use", "web_search_requests"],
  ["prompt_tokens_details", "web_search_requests"],
  ["input_tokens_details", "web_search_requests"]
]

/** The most that one of them says; null where none says anything. */
export const searchesIn = (usage: unknown): number | null => {
  const counted = places.map((place) => count(get(usage, ...place))).filter((searches) => searches !== null)
  return counted.length === 0 ? null : Math.max(...counted)
}
