/** On what the price of a call of the AI SDK depends: the SDK hands out what the provider counted, by the provider's own names. */
import * as AnthropicUsage from "../anthropic/Usage.ts"
import * as StatedCost from "../facts/StatedCost.ts"
import type { Billing, Json, Request, RequestBilling, Uncounted } from "../Format.ts"
import { distinct } from "../google/Searches.ts"
import { first, get, isEmpty, list, says, sum, text } from "../json/Read.ts"
import { countsOf } from "../usage/Counts.ts"
import { searchesIn } from "../usage/Searches.ts"
import { billedOf, sumOf } from "../usage/Usage.ts"
import { isCounted, metadataOf, rawUsageOf, stepsOf, tokensOfStep } from "./Usage.ts"

/** What is at the first of some paths that is not empty. */
const find = (value: unknown, ...paths: ReadonlyArray<ReadonlyArray<string>>): Json | undefined =>
  paths.map((path) => get(value, ...path)).find((found) => !isEmpty(found))

/** A step, what its provider counted, and what else the provider says of it. */
const served = (step: unknown) => ({ step, raw: rawUsageOf(step), said: metadataOf(step) })

/** Results of the provider's search that were none: it opened a page, or looked for words in one. */
const isOtherAction = (block: Json): boolean =>
  (find(block, ["output", "action", "type"], ["result", "action", "type"]) ?? "search") !== "search"

/** What stands in an answer of one of the provider's own tools. */
const blocksOf = (step: unknown, tool: string): ReadonlyArray<Json> =>
  list(get(step, "content")).filter(
    (block) => get(block, "providerExecuted") === true && text(get(block, "toolName"))?.startsWith(tool)
  )

const callsOf = ({ step }: { readonly step: unknown }, tool: string): ReadonlyArray<Json> =>
  blocksOf(step, tool).filter((block) => get(block, "type") === "tool-call")

/** Tools of providers that are paid for beside the tokens. */
const paidTools: ReadonlyArray<readonly [tool: string, part: Uncounted]> = [
  ["code_interpreter", "code_interpreter"],
  ["image_generation", "images"]
]

/** The searches of one step: those that the provider counted, else those that its answer shows. */
const searchesOf = ({ raw, said, step }: ReturnType<typeof served>): number | null => {
  const counted = searchesIn(raw)
  if (counted !== null) return counted
  const queries = said.map((each) => get(each, "groundingMetadata", "webSearchQueries")).find(Array.isArray)
  if (queries !== undefined) return distinct(list(queries))
  const idOf = (block: Json) => get(block, "toolCallId")
  const others = new Set(blocksOf(step, "web_search").filter(isOtherAction).map(idOf))
  return callsOf({ step }, "web_search").filter((block) => !others.has(idOf(block))).length || null
}

/** Files that the model made, and no code that it ran, of a kind that its provider did not count. */
const hasUncountedFile = ({ raw, step }: ReturnType<typeof served>, kind: "audio" | "image"): boolean => {
  const { outputAudio, outputImage } = countsOf(raw)
  const typeOf = (block: Json) => text(find(block, ["file", "mediaType"], ["mediaType"])) ?? ""
  return (
    !(kind === "audio" ? outputAudio : outputImage) &&
    callsOf({ step }, "code_execution").length === 0 &&
    list(get(step, "content")).some((block) => get(block, "type") === "file" && typeOf(block).startsWith(`${kind}/`))
  )
}

/** What is paid for beside what was counted. */
const uncountedOf = (step: ReturnType<typeof served>): ReadonlyArray<Uncounted> => [
  ...paidTools.filter(([tool]) => callsOf(step, tool).length > 0).map(([, part]) => part),
  ...(hasUncountedFile(step, "audio") ? (["audio"] as const) : []),
  ...(hasUncountedFile(step, "image") ? (["images"] as const) : [])
]

/** What the answers of some steps depend on together. */
const ofSteps = (steps: ReadonlyArray<ReturnType<typeof served>>): RequestBilling => {
  const raws = steps.map(({ raw }) => raw)
  return {
    ...sumOf(raws.map((raw) => billedOf(countsOf(raw)))),
    service_tier: first(
      ...raws.map((raw) => AnthropicUsage.tierOf(raw) ?? text(find(raw, ["serviceTier"], ["trafficType"]))),
      ...steps.toReversed().flatMap(({ said }) => said.map((each) => text(get(each, "serviceTier"))))
    ),
    web_searches: sum(...steps.map(searchesOf)),
    file_searches: sum(...steps.map((step) => callsOf(step, "file_search").length || null)),
    uncounted: Array.from(new Set(steps.flatMap(uncountedOf)))
  }
}

/** The requests of a step: one, or several where Anthropic says that it made them. */
const requestsOfStep = (step: ReturnType<typeof served>): ReadonlyArray<Request> => {
  const tokens = tokensOfStep(step.step)
  const model = text(get(step.step, "model", "modelId"))
  const names = { provider: null, model, response_model: text(get(step.step, "response", "modelId")) }
  const several = AnthropicUsage.requestsOf({ usage: step.raw, counts: countsOf(step.raw) }, () => tokens)
  if (several !== null)
    return several.map((one) => ({ ...one, model, response_model: one.response_model ?? names.response_model }))
  return [{ ...ofSteps([step]), ...names, ...tokens }]
}

export const billingOf = (output: unknown): Billing => {
  const steps = stepsOf(output).map(served)
  const isEach = steps.every(({ step }) => isCounted(tokensOfStep(step)))
  const isSeveral = steps.length > 1 || steps.some(({ raw }) => says(raw, "iterations"))
  const requests = isEach && isSeveral ? steps.flatMap(requestsOfStep) : []
  const stated = steps.map(({ raw, step }) =>
    first(StatedCost.ofUsage(raw), StatedCost.ofMetadata(get(step, "providerMetadata")))
  )
  return {
    ...ofSteps(steps),
    requests: requests.length > 1 ? requests : null,
    // Of steps that say nothing it is not known.
    stated_cost: stated.includes(null) ? null : stated.reduce<number>((sum, each) => sum + (each ?? 0), 0)
  }
}
