/** What a call by messages was, and on what its price depends. */
import { errorOf } from "../facts/Errors.ts"
import { isOpenModel, providerOfModel } from "../facts/Providers.ts"
import * as StatedCost from "../facts/StatedCost.ts"
import type { Facts, ReadBilling, Uncounted } from "../Format.ts"
import { get, list, text } from "../json/Read.ts"
import { usageIn } from "../usage/AnswerUsage.ts"
import { calls } from "./MessagesConversation.ts"
import { stopReasons } from "./StopReasons.ts"
import * as AnthropicUsage from "./Usage.ts"

/** Bedrock and Vertex want their name in the request, and put it into the ids of answers. */
const providers: ReadonlyArray<readonly [version: string, id: string, provider: string]> = [
  ["bedrock-", "msg_bdrk_", "aws"],
  ["vertex-", "msg_vrtx_", "google"]
]

const providerOf = (inputs: unknown, output: unknown): string | null => {
  const version = text(get(inputs, "anthropic_version")) ?? ""
  const id = text(get(output, "id")) ?? ""
  const found = providers.find(([versionHead, idHead]) => version.startsWith(versionHead) || id.startsWith(idHead))
  const provider = found?.[2] ?? providerOfModel(inputs, output)
  return provider ?? (isOpenModel(inputs, output) ? null : "anthropic")
}

export const facts = (inputs: unknown, output: unknown): Facts => {
  const error = errorOf(output)
  const reason = text(get(output, "stop_reason"))
  const content = get(output, "content")
  const names = list(content).map((block) => (calls.has(get(block, "type")) ? text(get(block, "name")) : null))
  return {
    provider: providerOf(inputs, output),
    model: text(get(inputs, "model")),
    response_model: text(get(output, "model")),
    ...AnthropicUsage.tokensIn(usageIn(output)),
    stop_reason: reason === null ? null : (stopReasons.get(reason) ?? "other"),
    provider_stop_reason: reason,
    tool_calls: Array.isArray(content) ? names.filter((name) => name !== null) : null,
    error_type: error?.type ?? null,
    error_code: error?.code ?? null,
    error_status: error?.status ?? null
  }
}

/** Tools of the provider's that an answer shows, and its usage does not count. Code runs free of charge beside what is read in the web. */
const uncountedIn = (output: unknown, searches: number | null): ReadonlyArray<Uncounted> => {
  const ran = list(get(output, "content")).filter((block) => get(block, "type") === "server_tool_use")
  const has = (name: RegExp) => ran.some((block) => name.test(text(get(block, "name")) ?? ""))
  if (has(/^web_search/)) return searches === null ? ["web_search"] : []
  return has(/code_execution$/) && !has(/^web_fetch/) ? ["code_interpreter"] : []
}

export const billing: ReadBilling = (_, output) => {
  const found = usageIn(output)
  const all = AnthropicUsage.billingOf(found)
  const uncounted = uncountedIn(output, all.web_searches)
  const requests = AnthropicUsage.requestsOf(found, () => AnthropicUsage.tokensIn(found))
  return {
    ...all,
    uncounted: [...all.uncounted, ...uncounted],
    // What is paid for once is the first's.
    requests:
      requests?.map((each, at) => (at === 0 ? { ...each, uncounted: [...each.uncounted, ...uncounted] } : each)) ??
      null,
    stated_cost: StatedCost.of(output, found.usage)
  }
}
