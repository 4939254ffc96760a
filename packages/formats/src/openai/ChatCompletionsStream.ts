/** Streams of chat completions. */
import { errorOf } from "../facts/Errors.ts"
import { providerOf } from "../facts/Providers.ts"
import type { Accumulator, Json, JsonObject } from "../Format.ts"
import { define } from "../json/ExactJson.ts"
import { get, isEmpty, isObject, list, says, text } from "../json/Read.ts"
import * as Accumulate from "../stream/Accumulate.ts"
import { atPlace, byPlace, inOrder, setFirst, setLast, type Draft } from "../stream/Draft.ts"
import { lastOf, setTold } from "../stream/Usage.ts"
import { makeMessage } from "./ChatCompletionsDeltas.ts"

/** The order in which OpenAI writes an answer without streaming. */
const order = ["id", "object", "created", "model", "choices", "usage", "service_tier", "system_fingerprint"]

/** Fields that only a stream has: random text that hides the length of a piece from who listens. */
const padding: ReadonlySet<string> = new Set(["obfuscation", "p"])

/** Objects whose fields come in several chunks. */
const makeMerged = (fields: Draft) => {
  const drafts = new Map<string, Draft>()
  return (key: string, value: Json) => {
    if (!isObject(value)) return setLast(fields, key, value)
    const draft = drafts.get(key) ?? {}
    drafts.set(key, draft)
    for (const [field, item] of Object.entries(value)) setTold(draft, field, item)
    define(fields, key, draft)
  }
}

/** Log probabilities: lists of tokens that are joined. */
const makeLogprobs = () => {
  const fields: Draft = {}
  let came: Json = null
  return {
    take: (value: Json) => {
      if (!isObject(value)) came ??= value
      else {
        came = fields
        for (const [key, items] of Object.entries(value)) {
          const current = get(fields, key)
          if (Array.isArray(items) && Array.isArray(current))
            for (const item of items) (current as Array<Json>).push(item)
          else if (Array.isArray(items)) define(fields, key, [...items])
          else setLast(fields, key, items)
        }
      }
    },
    value: () => came
  }
}

const makeChoice = (index: number) => {
  const fields: Draft = {}
  let came: ReadonlyArray<string> = []
  const merge = makeMerged(fields)
  const message = makeMessage()
  const logprobs = makeLogprobs()
  /** The whole message that Perplexity sends beside its deltas, and others instead of them. */
  let whole: JsonObject | null = null
  return {
    take: (choice: JsonObject) => {
      if (came.length === 0) came = Object.keys(choice)
      for (const [key, value] of Object.entries(choice)) {
        // Together repeats each piece beside the delta.
        if (key === "text" && isObject(choice["delta"])) continue
        if (key === "delta" || key === "message") {
          setFirst(fields, "message", null)
          if (key === "delta" && isObject(value)) message.take(value)
          if (key === "message" && isObject(value)) whole = value
        } else if (key === "logprobs") {
          setFirst(fields, key, null)
          logprobs.take(value)
        } else if (key === "content_filter_results") merge(key, value)
        else setTold(fields, key, value)
      }
    },
    isFinished: () => text(fields["finish_reason"]) !== null,
    value: (withIndex: boolean): JsonObject => {
      const value: Draft = {
        ...fields,
        message: whole !== null && !message.isSaid() ? whole : message.value(withIndex)
      }
      if (Object.hasOwn(fields, "logprobs")) value["logprobs"] = logprobs.value()
      setLast(value, "finish_reason", null)
      setLast(value, "index", index)
      return inOrder(value, came, [])
    }
  }
}

/** Providers that number the calls of an answer without streaming too. */
const numbering: ReadonlySet<string> = new Set(["deepseek", "mistral"])

/** Whether a payload is no chunk of a stream. */
const isWhole = (payload: JsonObject): boolean => payload["object"] === "chat.completion" || !says(payload, "choices")

const builder = (): Accumulate.Builder => {
  const fields: Draft = {}
  const choices = new Map<number, ReturnType<typeof makeChoice>>()
  const merge = makeMerged(fields)
  let came: ReadonlyArray<string> = []
  let isDone = false
  /** The body where it is no stream: the one payload, if it is a whole answer or an error. */
  let whole: JsonObject | null = null
  let payloads = 0

  const takeChoice = (choice: Json, position: number) => {
    if (!isObject(choice)) return
    const index = typeof choice["index"] === "number" ? choice["index"] : position
    atPlace(choices, index, () => makeChoice(index))?.take(choice)
  }

  const takeField = (key: string, value: Json) => {
    if (padding.has(key) && typeof value === "string") return
    if (key === "choices" && Array.isArray(value)) {
      setFirst(fields, key, [])
      value.forEach((choice, position) => takeChoice(choice as Json, position))
    } else if (key === "object" && typeof value === "string")
      setFirst(fields, key, value.replace(/\.(?:chunk|done)$/, ""))
    else if (key === "id" || key === "created" || key === "model") setFirst(fields, key, value)
    else if (key === "x_groq") merge(key, value)
    else setTold(fields, key, value)
  }

  /** Groq and Azure put figures elsewhere in a stream than in an answer without streaming. */
  const moveFigures = (output: Draft): void => {
    const groq = output["x_groq"]
    if (isObject(groq) && isObject(groq["usage"])) {
      const { usage, ...others } = groq
      output["x_groq"] = others
      output["usage"] = lastOf(usage, output["usage"])
    }
    const latency = output["latency_checkpoint"]
    if (latency === undefined || !isObject(output["usage"])) return
    output["usage"] = { ...output["usage"], latency_checkpoint: latency }
    delete output["latency_checkpoint"]
  }

  return {
    take: (payload, event) => {
      payloads++
      whole = payloads === 1 && isWhole(payload) ? payload : null
      if (came.length === 0 && !isEmpty(payload["choices"])) came = Object.keys(payload)
      const isBareError = event === "error" && isEmpty(payload["error"]) && isEmpty(payload["choices"])
      if (isBareError) {
        whole = null
        define(fields, "error", payload)
      } else for (const [key, value] of Object.entries(payload)) takeField(key, value)
    },
    done: () => {
      isDone = true
    },
    build: () => {
      const output = { ...fields }
      moveFigures(output)
      const made = byPlace(choices)
      if (made.length > 0) {
        const withIndex = numbering.has(providerOf(null, output) ?? "")
        output["choices"] = made.map((choice) => choice.value(withIndex))
      }
      const isFinished = made.length > 0 && made.every((choice) => choice.isFinished())
      const isError = errorOf(output) !== null || errorOf(list(output["choices"])) !== null
      return {
        output: whole ?? inOrder(output, came, order),
        ended: Accumulate.endedBy(isError, isDone || isFinished)
      }
    }
  }
}

export const accumulator = (): Accumulator => Accumulate.accumulator(builder())
