/** Requests that are in none of the formats and are billed all the same: they are counted, so that none passes in silence. */
import * as Bedrock from "@tachograph/formats/bedrock/Paths"
import { get, isObject, parsed, text } from "@tachograph/formats/json/Read"
import { modelInUrl, pathOf } from "./Recognise.ts"

/** What names a model: a key of JSON, or a field of a form. */
const namesModel = /"(?:model|modelId|model_id)"\s*:\s*"|name="model"/

/** What was used, by the names of many providers. Within another text, its quotes are escaped. */
const hasUsage =
  /"(?:usage|usageMetadata|billed_units)"\s*:\s*\{|"(?:prompt_token_count|prompt_eval_count|inputTextTokenCount)"\s*:\s*\d/

/** Bedrock says in headers what was used, of models that do not say it themselves. Its errors have a message and nothing else of theirs. */
const isAnswerOfBedrock = (url: string | URL, answer: string): boolean => {
  if (Bedrock.makerOf(pathOf(url)) === undefined) return false
  const said = parsed(answer)
  return isObject(said) && text(get(said, "message") ?? get(said, "Message")) === null
}

/**
 * Whether a request that was passed on by POST is billed by a model's use: the path or the body names a model, and the answer says what
 * was used. Both bodies are texts, of JSON, of a form or of a stream.
 */
export const isBilled = (url: string | URL, body: string, answer: string): boolean =>
  (hasUsage.test(answer) && (modelInUrl(url) !== null || namesModel.test(body))) || isAnswerOfBedrock(url, answer)

/** Words of endpoints. All else in a path may be somebody's: an id, a project, a name. */
const words: ReadonlySet<string> = new Set(
  [
    "ai agents answers api anthropic async audio batches chat classifications classify compat completions complete compact",
    "conversations converse converse-stream count_tokens deployments edits embed embeddings endpoints engines fim",
    "foundation-models generate generations gateway google images inference invocations invoke",
    "invoke-with-response-stream interactions locations messages ml model models moderations ocr openai",
    "predictions projects publishers realtime rerank responses run runs search serving-endpoints speech text",
    "threads tokenize transcriptions translations tunedModels variations videos"
  ].flatMap((line) => line.split(" "))
)

const verbs: ReadonlySet<string> = new Set([
  ...["generateContent", "streamGenerateContent", "countTokens", "batchGenerateContent", "asyncBatchEmbedContent"],
  ...["embedContent", "batchEmbedContents", "predict", "streamPredict", "serverStreamingPredict", "rawPredict"],
  ...["streamRawPredict", "predictLongRunning", "generateImages", "generateAnswer", "generateText", "generateMessage"]
])

const version = /^v\d{1,2}(?:(?:alpha|beta)\d{0,2}|internal)?$/

const labelOf = (segment: string): string => {
  const [name = "", verb] = segment.split(/:(.*)/s)
  const said = words.has(name) || version.test(name) ? name : "*"
  return verb === undefined ? said : `${said}:${verbs.has(verb) ? verb : "*"}`
}

/** Segments beyond these are left out. */
const maxSegments = 8

/** The path of a request without anything that may be a name or an id, so that a metric may have it. */
export const pathLabel = (url: string | URL): string => {
  const segments = pathOf(url)
    .split("/", maxSegments + 2)
    .filter((segment) => segment !== "")
  return `/${segments.slice(0, maxSegments).map(labelOf).join("/")}`
}

/** How many paths are counted apart, and what the others are counted as. */
export const [maxPaths, otherPaths] = [50, "other"]

/** Counts by path. */
export class PathCounts {
  readonly #counts = new Map<string, number>()

  /** Returns the path that is counted, and whether it is the first time. */
  add(url: string | URL): { readonly path: string; readonly isFirst: boolean } {
    const label = pathLabel(url)
    const path = this.#counts.has(label) || this.#counts.size < maxPaths ? label : otherPaths
    const before = this.#counts.get(path) ?? 0
    this.#counts.set(path, before + 1)
    return { path, isFirst: before === 0 }
  }

  all(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }
}
