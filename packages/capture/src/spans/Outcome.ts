/** How a call went: when, for how long, and why it failed. */
import type { Attributes, Span, Value } from "./Span.ts"

/** Why a call failed. */
export interface CallError {
  readonly type: string
  readonly message: string
}

const textOf = (value: Value | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

const firstText = (attributes: Attributes, ...keys: ReadonlyArray<string>): string | undefined =>
  keys.map((key) => textOf(attributes.get(key))).find((text) => text !== undefined)

const typeKeys = ["error.type", "exception.type", "error_type"]
const messageKeys = [
  "error.message",
  "exception.message",
  "langfuse.observation.status_message",
  "error",
  "error_message"
]

export const isOfError = (key: string): boolean => typeKeys.includes(key) || messageKeys.includes(key)

/** Emitters that report a failure as a success, with this as the reason why the answer ended. */
const endsInError = (attributes: Attributes): boolean =>
  /^(?:\["error"\]|error)$/.test(String(attributes.get("gen_ai.response.finish_reasons") ?? ""))

/** Whether the span itself says that it failed, whatever else it says. */
export const isFailed = ({ attributes, status }: Span): boolean =>
  status.code === 2 ||
  firstText(attributes, ...typeKeys) !== undefined ||
  attributes.get("langfuse.observation.level") === "ERROR" ||
  attributes.get("genkit:state") === "error" ||
  endsInError(attributes)

/** What a span says of its status, or of the exception in it. */
export const messageOf = ({ attributes, events, status }: Span): string =>
  textOf(status.message) ??
  firstText(events.find(({ name }) => name === "exception")?.attributes ?? attributes, ...messageKeys) ??
  ""

/** Why a call failed: in its own words, else in those of what was recorded with it, else in those of an ancestor that failed with it. */
export const errorOf = (span: Span, fill: Attributes, ancestors: ReadonlyArray<Span>): CallError | null => {
  if (!isFailed(span)) return null
  const exception = span.events.find(({ name }) => name === "exception")?.attributes
  const own = [span.attributes, exception ?? new Map<string, Value>(), fill]
  const failed = ancestors.filter(({ status }) => status.code === 2)
  const all = [...own, ...failed.map(({ attributes }) => attributes)]
  const find = (keys: ReadonlyArray<string>) =>
    all.map((each) => firstText(each, ...keys)).find((text) => text !== undefined)
  return {
    type: find(typeKeys) ?? "unknown",
    message: textOf(span.status.message) ?? find(messageKeys) ?? textOf(failed[0]?.status.message) ?? ""
  }
}

const statusKeys = ["http.response.status_code", "http.status_code", "status_code"]

/** The status of the provider's response: 100 to 599. */
export const httpStatusOf = (span: Span, fill: Attributes): number | undefined => {
  const said = [
    ...statusKeys.flatMap((key) => [span.attributes.get(key), fill.get(key)]),
    span.attributes.get("error.type")
  ]
  return said.map(Number).find((status) => Number.isInteger(status) && status >= 100 && status <= 599)
}

/** Keys of the time to the first token, and how many milliseconds their unit has. */
const firstTokenKeys: ReadonlyArray<readonly [key: string, ms: number]> = [
  ["gen_ai.response.time_to_first_chunk", 1000],
  ["gen_ai.server.time_to_first_token", 1000],
  ["ai.response.msToFirstChunk", 1],
  ["ttft_ms", 1]
]

/** Keys of the time at which the first token came. */
const firstTimeKeys = ["mastra.completion_start_time", "langfuse.observation.completion_start_time"]

/** Milliseconds. */
export const firstTokenOf = (span: Span, fill: Attributes): number | undefined => {
  const get = (key: string) => span.attributes.get(key) ?? fill.get(key)
  for (const [key, unit] of firstTokenKeys) {
    const value = get(key)
    if (typeof value === "number" && value >= 0) return value * unit
  }
  for (const key of firstTimeKeys) {
    const ms = Date.parse((textOf(get(key)) ?? "").replaceAll('"', "")) - span.startMs
    if (ms >= 0) return ms
  }
  return undefined
}
