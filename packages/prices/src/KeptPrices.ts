/** Which price of the kept list is that of a model, by the names that providers and routers give it. */
import { calcPrice, findProvider, type PriceCalculation } from "@pydantic/genai-prices"
import { type Known, type Rates, ratesOf } from "./Rates.ts"
import type { UnpricedPart } from "./Usage.ts"

export interface FoundPrice {
  /** The provider and the model of the price. */
  readonly price: string
  readonly isExact: boolean
  /** Of an operator's own prices, which come before the list. */
  readonly isOwn?: boolean
  readonly rates: Rates
  /** The minute since 1970 that the prices hold for. Null where they always hold. */
  readonly minute: number | null
  /** What every call of this name pays for besides. */
  readonly besides?: UnpricedPart | undefined
}

export const minuteOf = (at: Date): number => Math.floor(at.getTime() / 60_000)

/** What routers, and the list itself, call a provider by another name. */
const aliases: ReadonlyMap<string, string> = new Map([
  ...["amazon", "amazon-bedrock", "aws-bedrock", "bedrock"].map((name) => [name, "aws"] as const),
  ...["azure_ai", "azure-openai"].map((name) => [name, "azure"] as const),
  ...["gemini", "google-ai-studio", "google-vertex", "google-vertex-ai", "vertex", "vertex_ai", "vertexai"].map(
    (name) => [name, "google"] as const
  ),
  ...["grok", "xai"].map((name) => [name, "x-ai"] as const),
  ...["together_ai", "togetherai"].map((name) => [name, "together"] as const),
  ...["zai", "z-ai", "zhipu"].map((name) => [name, "zhipuai"] as const),
  ["cohere_chat", "cohere"],
  ["fireworks_ai", "fireworks"],
  ["github_copilot", "github-copilot"],
  ["moonshot", "moonshotai"],
  ["perplexity-ai", "perplexity"],
  ["workers-ai", "cloudflare"]
])

/** Programs that serve models where they run: no provider is paid. */
const programs: ReadonlySet<string> = new Set([
  ...["ollama", "lmstudio", "llama.cpp", "llamacpp", "localai", "vllm", "sglang", "mlx"]
])

/** Those whose models anybody may serve. Whoever does has prices of his own. */
const openMakers: ReadonlySet<string> = new Set([
  ...["arcee", "cerebras", "cohere", "deepseek", "minimax", "mistral", "moonshotai", "zai", "zhipuai"]
])
const openModels = /^(?:gpt-oss|gemma)/

/** Heads of names that say who made a model with open weights, and not who serves it: Hugging Face has the same. */
const organisations: ReadonlySet<string> = new Set(["google", "moonshotai", "openai"])

const isOpen = ({ model, provider }: PriceCalculation): boolean =>
  openMakers.has(provider.id) || openModels.test(model.id)

/** What is asked for after a model's name at OpenRouter, such as `:online`. */
const variant = /:[a-z]+$/

/** The name alone, without the path before it. */
const lastOf = (model: string): string => model.slice(model.lastIndexOf("/") + 1)

const noUsage = { input_tokens: 0, output_tokens: 0 }

type Look = (model: string, providerId?: string) => PriceCalculation | null

const ofProvider = (look: Look, provider: string, model: string): PriceCalculation | null => {
  const names = [model, model.replace(variant, ""), lastOf(model)]
  const ids = [provider, aliases.get(provider) ?? provider]
  for (const id of new Set(ids)) {
    for (const name of new Set(names)) {
      const found = look(name, id)
      if (found !== null) return found
    }
  }
  return null
}

/** The provider that a router's name begins with. */
const providerNamed = (head: string): string | null =>
  findProvider({ providerId: head })?.id === head ? head : (aliases.get(head) ?? null)

/** The price of the provider that a name begins with, else that of the maker whose models nobody else names so. */
const byName = (look: Look, model: string): PriceCalculation | null => {
  const slash = model.indexOf("/")
  const head = providerNamed(model.slice(0, Math.max(0, slash)))
  const routed = head === null ? null : ofProvider(look, head, model.slice(slash + 1))
  if (routed !== null && !(isOpen(routed) && organisations.has(head!))) return routed
  const made = look(model)
  if (made !== null && !isOpen(made)) return made
  return slash === -1 ? null : byName(look, model.slice(slash + 1))
}

/** What the list leaves out, since it has one price for all, or none for what is no token. As Google's pages have it. */
/** What comes out of a model that puts out nothing else. */
const outputOf = (id: string) => {
  if (/(?:^|-)tts(?:-|$)/.test(id)) return "audio"
  return id.startsWith("gpt-image-") ? "images" : undefined
}

const knownOf = ({ model, provider }: PriceCalculation): Known => {
  const output = outputOf(model.id)
  if (provider.id !== "google") return { output }
  const isBefore3 = /^gemini-(?:[a-z]+-)?[12]\./.test(model.id)
  return {
    output,
    isAudioAsText: true,
    ...(isBefore3 && { searchingRequest: 35 }),
    ...(!isBefore3 && model.id.startsWith("gemini-") && { webSearch: 14 })
  }
}

/** Models that search with each request, and do not say so. */
const searching = /^gpt-[\w.-]+-search-/

/** What every call of a name pays for besides its tokens. */
const besidesOf = (model: string, isOfRouter: boolean): UnpricedPart | undefined =>
  searching.test(lastOf(model)) || (isOfRouter && model.endsWith(":online")) ? "web_search" : undefined

/** Perplexity charges for a request by how much it read, of which the list has the dearest only. */
const isBySize = ({ model_price, provider }: PriceCalculation): boolean =>
  provider.id === "perplexity" && model_price["requests_kcount"] !== undefined

const free = ratesOf({})

/** `provider` and `model` are in lower case. */
export const find = (provider: string | null, model: string, at: Date): FoundPrice | null => {
  if (provider !== null && programs.has(provider)) return null
  const look: Look = (name, providerId) =>
    calcPrice(noUsage, name, { timestamp: at, ...(providerId === undefined ? {} : { providerId }) })
  const own = provider === null ? null : ofProvider(look, provider, model)
  const isOfRouter = provider === "openrouter" || (provider === null && model.includes("/"))
  if (isOfRouter && model.endsWith(":free") && own?.model.id !== model) {
    return { price: `openrouter/${model}`, isExact: true, rates: free, minute: null }
  }
  const other = own === null ? byName(look, model) : null
  // A provider of the list does not charge what the maker of an open model does.
  const found = own ?? (other !== null && isOpen(other) && provider !== null && providerNamed(provider) ? null : other)
  if (found === null) return null
  return {
    price: `${found.provider.id}/${found.model.id}`,
    isExact: found.provider.id === provider && found.model.id.toLowerCase() === model && !isBySize(found),
    rates: ratesOf(found.model_price, knownOf(found)),
    minute: Array.isArray(found.model.prices) ? minuteOf(at) : null,
    besides: besidesOf(model, isOfRouter)
  }
}
