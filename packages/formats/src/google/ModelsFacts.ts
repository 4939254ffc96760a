/** What a call of `generateContent` was, and on what its price depends. */
import { errorOf } from "../facts/Errors.ts"
import * as StatedCost from "../facts/StatedCost.ts"
import type { Facts, Json, ReadBilling, Uncounted } from "../Format.ts"
import { get, isObject, list, sum, text } from "../json/Read.ts"
import { usageIn } from "../usage/AnswerUsage.ts"
import { billedOf, tokensOf } from "../usage/Usage.ts"
import { field } from "./ModelsConversation.ts"
import { distinct } from "./Searches.ts"
import { stopReasons } from "./StopReasons.ts"

/** A model without the path of its resource, as price lists name it. A tuned model has no other name than its path. */
const modelOf = (name: Json | undefined): string | null => text(name)?.replace(/^(?:.*\/)?models\/(?=.)/, "") ?? null

const partsIn = (candidate: Json | undefined): ReadonlyArray<Json> => list(field(get(candidate, "content"), "parts"))

/** Whether a function was called that the answer itself holds no response for. Google calls those of MCP servers. */
const isWaiting = (parts: ReadonlyArray<Json>): boolean => {
  const keyOf = (call: Json | undefined) => text(get(call, "id")) ?? text(get(call, "name"))
  const answered = new Set(parts.map((item) => keyOf(field(item, "functionResponse"))))
  return parts.some(
    (item) => isObject(field(item, "functionCall")) && !answered.has(keyOf(field(item, "functionCall")))
  )
}

const namesOfCalls = (candidate: Json): ReadonlyArray<string> =>
  partsIn(candidate)
    .map((item) => text(get(field(item, "functionCall"), "name")) ?? text(field(field(item, "toolCall"), "toolType")))
    .filter((name) => name !== null)

const stopOf = (output: unknown): Pick<Facts, "stop_reason" | "provider_stop_reason"> => {
  const candidate = get(output, "candidates", 0)
  const word = text(field(candidate, "finishReason"))
  if (word !== null) {
    const reason = stopReasons.get(word) ?? "other"
    // Google says `STOP` as well where the model waits for functions.
    const isCall = reason === "end" && isWaiting(partsIn(candidate))
    return { stop_reason: isCall ? "tool_calls" : reason, provider_stop_reason: word }
  }
  const blocked = text(field(field(output, "promptFeedback"), "blockReason"))
  return { stop_reason: blocked === null ? null : "content_filter", provider_stop_reason: blocked }
}

export const facts = (inputs: unknown, output: unknown): Facts => {
  const candidates = get(output, "candidates")
  const error = errorOf(output)
  return {
    provider: "google",
    model: modelOf(get(inputs, "model")),
    response_model: modelOf(field(output, "modelVersion")),
    ...tokensOf(usageIn(output).counts, "prompt"),
    // Before an error, a reason to finish is that of a piece of the answer.
    ...(error === null ? stopOf(output) : { stop_reason: null, provider_stop_reason: null }),
    tool_calls: Array.isArray(candidates) ? list(candidates).flatMap(namesOfCalls) : null,
    error_type: error?.type ?? null,
    error_code: error?.code ?? null,
    error_status: error?.status ?? null
  }
}

/** What Google searched for, in the web and among its pictures. Each query of either is paid for. */
const searchesOf = (grounding: ReadonlyArray<Json | undefined>): number | null => {
  const counted = ["webSearchQueries", "imageSearchQueries"].map((key) => {
    const queries = grounding.map((each) => field(each, key)).filter(Array.isArray)
    return queries.length === 0 ? null : distinct(queries.flatMap(list))
  })
  return sum(...counted)
}

/** What the model made that is no text. Pictures of code that ran are none of its own. */
const madeBy = (candidate: Json): ReadonlyArray<string> => {
  const parts = partsIn(candidate)
  if (parts.some((item) => isObject(field(item, "executableCode")))) return []
  return parts.map((item) => text(field(field(item, "inlineData"), "mimeType")) ?? "")
}

export const billing: ReadBilling = (_, output) => {
  const { usage, counts } = usageIn(output)
  const candidates = list(get(output, "candidates"))
  const grounding = candidates.map((candidate) => field(candidate, "groundingMetadata"))
  const searches = searchesOf(grounding)
  const isOf = (kind: string) =>
    grounding.some((each) => list(field(each, "groundingChunks")).some((chunk) => isObject(get(chunk, kind))))
  const made = candidates.flatMap(madeBy)
  const uncounted: ReadonlyArray<readonly [isPaid: boolean, part: Uncounted]> = [
    [searches === null && isOf("web"), "web_search"],
    [isOf("maps"), "maps"],
    [!counts.outputImage && made.some((type) => type.startsWith("image/")), "images"],
    [!counts.outputAudio && made.some((type) => type.startsWith("audio/")), "audio"]
  ]
  return {
    service_tier: text(field(usage, "serviceTier")) ?? text(field(usage, "trafficType")),
    ...billedOf(counts),
    web_searches: searches,
    file_searches: null,
    uncounted: uncounted.filter(([isPaid]) => isPaid).map(([, part]) => part),
    requests: null,
    stated_cost: StatedCost.of(output, usage)
  }
}
