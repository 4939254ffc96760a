/** How Anthropic counts what a call took, and says at which prices it served it. */
import type { Json, Request, RequestBilling, Tokens } from "../Format.ts"
import { get, list, text } from "../json/Read.ts"
import type { AnswerUsage } from "../usage/AnswerUsage.ts"
import { countsOf } from "../usage/Counts.ts"
import { searchesIn } from "../usage/Searches.ts"
import { billedOf, sumOf, tokensOf } from "../usage/Usage.ts"

/** What a request was served in: fast mode, or one country only, has prices of its own, beside those of the tier. */
export const tierOf = (usage: unknown): string | null => {
  if (get(usage, "speed") === "fast") return "fast"
  return get(usage, "inference_geo") === "us" ? "us" : text(get(usage, "service_tier"))
}

const iterationsOf = (usage: Json | undefined, type: string): ReadonlyArray<AnswerUsage> =>
  list(get(usage, "iterations"))
    .filter((iteration) => get(iteration, "type") === type)
    .map((iteration) => ({ usage: iteration, counts: countsOf(iteration) }))

/** What the model counted that is paid for. The provider's own sum leaves out what it spent on compacting the conversation. */
const paidOf = (found: AnswerUsage): ReadonlyArray<AnswerUsage> => [found, ...iterationsOf(found.usage, "compaction")]

const freshOf = ({ counts }: AnswerUsage): Tokens => tokensOf(counts, "fresh")

/** The tokens of a call. They are not known without those of its first request. */
export const tokensIn = (found: AnswerUsage): Tokens => {
  const [own, ...others] = paidOf(found).map(freshOf)
  if (others.length === 0) return own!
  const all = sumOf([own!, ...others])
  return {
    ...all,
    input_tokens: own!.input_tokens === null ? null : all.input_tokens,
    output_tokens: own!.output_tokens === null ? null : all.output_tokens
  }
}

const isNamed = ({ usage }: AnswerUsage): boolean => text(get(usage, "model")) !== null

/** Of the model's requests together. */
export const billingOf = (found: AnswerUsage): RequestBilling => ({
  ...sumOf(paidOf(found).map(({ counts }) => billedOf(counts))),
  service_tier: tierOf(found.usage),
  web_searches: searchesIn(found.usage),
  file_searches: null,
  uncounted: iterationsOf(found.usage, "advisor_message").every(isNamed) ? [] : ["advisor"]
})

/**
 * The requests that were made for one answer, if there are several: those of the model and those that compacted the conversation,
 * together what `all` returns, and those of an advisor, which is another model. The first has what is not said of each.
 */
export const requestsOf = (
  found: AnswerUsage,
  all: () => Pick<Tokens, "input_tokens" | "output_tokens">
): ReadonlyArray<Request> | null => {
  const { usage } = found
  if (list(get(usage, "iterations")).length === 0) return null
  const each = [...iterationsOf(usage, "message"), ...iterationsOf(usage, "compaction")]
  const sum = sumOf(each.map(freshOf))
  const { input_tokens, output_tokens } = all()
  const isWhole = sum.input_tokens === input_tokens && sum.output_tokens === output_tokens
  const paid = () => (found.counts.input === undefined ? [] : paidOf(found))
  const own = isWhole ? each : paid()
  const advisors = iterationsOf(usage, "advisor_message").filter(isNamed)
  if (own.length === 0 || own.length + advisors.length === 1) return null
  const billing = billingOf(found)
  return [...own, ...advisors].map((request, index) => ({
    ...billing,
    ...(index === 0 ? {} : { web_searches: null, uncounted: [] }),
    provider: null,
    model: null,
    response_model: text(get(request.usage, "model")),
    ...freshOf(request),
    cache_write_1h_tokens: billedOf(request.counts).cache_write_1h_tokens
  }))
}
