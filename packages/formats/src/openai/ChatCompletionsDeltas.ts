/** Messages of chat completions, built from deltas. */
import type { Json, JsonObject } from "../Format.ts"
import { define } from "../json/ExactJson.ts"
import { isEmpty, isObject, list } from "../json/Read.ts"
import { joinBase64 } from "../stream/Base64.ts"
import { append, inOrder, merge, pieces, setFirst, type Draft } from "../stream/Draft.ts"
import { setTold } from "../stream/Usage.ts"
import * as Blocks from "./ChatCompletionsBlocks.ts"
import * as Calls from "./ChatCompletionsCalls.ts"
import { makeIndexed } from "./ChatCompletionsDetails.ts"

/** The order in which OpenAI writes a message. Other fields follow as they came. */
const order = [
  ...["role", "content", "reasoning_content", "reasoning", "reasoning_details"],
  ...["tool_calls", "refusal", "annotations"]
]

const makeSound = () => {
  const fields: Draft = {}
  const data: Array<string> = []
  return {
    take: (audio: JsonObject) => {
      const piece = audio["data"]
      if (typeof piece === "string") data.push(piece)
      merge(fields, typeof piece === "string" ? { ...audio, data: null } : audio, ["id"])
    },
    value: (): Json => (data.length === 0 ? fields : { ...fields, data: joinBase64(data) })
  }
}

/** The message of one choice. */
export const makeMessage = () => {
  const fields: Draft = {}
  let came: ReadonlyArray<string> | undefined
  const content = Blocks.makeContent()
  const calls = Calls.make()
  const sound = makeSound()
  const legacy: Draft = {}
  const lists = new Map<string, ReturnType<typeof makeIndexed>>()
  const arrays = new Map<string, Array<Draft>>()
  let isSaid = false

  const takeField = (key: string, value: Json) => {
    // The number of a piece in Together's vocabulary says nothing of the whole.
    if (key === "token_id") return
    if (key === "content") content.take(value)
    if (key === "tool_calls") for (const call of list(value)) calls.take(call)
    if (key === "role") return setFirst(fields, key, value)
    if (key === "content" || value === null) return setFirst(fields, key, null)
    if (key === "tool_calls") return define(fields, key, null)
    if (key === "audio" && isObject(value)) sound.take(value)
    else if (key === "function_call" && isObject(value)) merge(legacy, value, ["name"])
    else if (key === "reasoning_details" || key === "executed_tools") {
      const indexed = lists.get(key) ?? makeIndexed()
      lists.set(key, indexed)
      for (const item of list(value)) indexed.take(item)
    } else if (Array.isArray(value)) {
      const items = arrays.get(key) ?? []
      arrays.set(key, items)
      for (const item of value) Blocks.take(items, item as Json)
    } else if (pieces.has(key)) return append(fields, key, value)
    else return setTold(fields, key, value)
    define(fields, key, null)
  }

  return {
    take: (delta: JsonObject) => {
      came ??= Object.keys(delta).length > 0 ? Object.keys(delta) : undefined
      for (const [key, value] of Object.entries(delta)) {
        isSaid ||= key !== "role" && !isEmpty(value)
        takeField(key, value)
      }
    },
    /** Whether a delta said more than the role. */
    isSaid: () => isSaid,
    value: (withIndex: boolean): JsonObject => {
      const whole: Draft = { role: "assistant", ...fields, content: content.value() }
      const made = calls.value(withIndex)
      if (made.length > 0) whole["tool_calls"] = made
      if (Object.keys(legacy).length > 0) whole["function_call"] = legacy
      if (!isEmpty(sound.value())) whole["audio"] = sound.value()
      for (const [key, { items }] of lists) define(whole, key, items)
      for (const [key, items] of arrays) define(whole, key, items)
      return inOrder(whole, came ?? [], order)
    }
  }
}
