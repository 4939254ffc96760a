/** The results that a stream has told, as those of calls that are not streamed have them. */
import type { Json, JsonObject } from "../Format.ts"
import { text } from "../json/Read.ts"
import type { Fields, StreamStep } from "./StreamStep.ts"

/** In the order in which a call's result has them. `rawFinishReason` and `totalUsage` are none of a model's. */
export const resultFields = [
  "finishReason",
  "rawFinishReason",
  "usage",
  "totalUsage",
  "warnings",
  "request",
  "response",
  "providerMetadata"
]

/** In the order in which a model's result has them. */
const modelFields = ["finishReason", "usage", "request", "response", "warnings", "providerMetadata", "logprobs"]

const pick = (fields: Fields, keys: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (fields.has(key) ? [[key, fields.get(key) as Json] as const] : [])))

/** Models tell with it how a stream begins; an answer that is not streamed has none. */
const isStart = (block: JsonObject) => text(block["kind"])?.endsWith(".message_start") === true

/** From version 7 on, the thoughts of a result are as they are sent back. */
const asSent = ({ providerMetadata, ...block }: JsonObject): JsonObject =>
  providerMetadata === undefined ? block : { ...block, providerOptions: providerMetadata }

const stepOf = ({ blocks, fields }: StreamStep): JsonObject => ({ content: blocks, ...pick(fields, resultFields) })

export const ofModel = ({ blocks, fields }: StreamStep): JsonObject => ({
  content: blocks.filter((block) => !isStart(block)),
  ...pick(fields, modelFields)
})

/** `isTotal`: from version 7 on, usage and content of a result are those of all steps. */
export const ofCall = (steps: ReadonlyArray<StreamStep>, result: Fields, isTotal: boolean): JsonObject => {
  const { blocks: last, fields: own } = steps.at(-1)!
  const content = isTotal ? steps.flatMap(({ blocks }) => blocks) : last
  const only = (type: string) => content.filter((block) => block["type"] === type)
  const textOf = (type: string) =>
    last.flatMap((block) => (block["type"] === type ? [String(block["text"])] : [])).join("")
  const fields: Fields = new Map([...own, ...result])
  const total = result.get("totalUsage")
  if (isTotal && total !== undefined) fields.set("usage", total)
  const thoughts = last.filter((block) => block["type"] === "reasoning")
  return {
    text: textOf("text"),
    content,
    reasoning: thoughts.map((block) => (isTotal ? asSent(block) : block)),
    ...(thoughts.length > 0 ? { reasoningText: textOf("reasoning") } : {}),
    files: only("file").map((block) => block["file"] ?? block),
    sources: only("source"),
    toolCalls: only("tool-call"),
    toolResults: only("tool-result"),
    ...pick(fields, resultFields),
    steps: steps.map(stepOf)
  }
}
