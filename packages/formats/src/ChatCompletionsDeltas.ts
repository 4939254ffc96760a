/** Messages of chat completions, built from deltas. */
import type { Json, JsonObject } from "./Format.ts"
import { define } from "./json/ExactJson.ts"
import { get, isEmpty, isObject, list, text } from "./json/Read.ts"
import { joinBase64 } from "./stream/Base64.ts"
import { append, inOrder, maxPlaces, setFirst, setLast, type Draft } from "./stream/Draft.ts"

/** Fields that come in pieces. */
const pieces: ReadonlySet<string> = new Set([
  ...["refusal", "reasoning", "reasoning_content", "reasoning_text", "thinking"],
  ...["arguments", "input", "transcript", "text", "summary", "data"]
])

/** The order in which OpenAI writes a message. Other fields follow as they came. */
const order = [
  ...["role", "content", "reasoning_content", "reasoning", "reasoning_details"],
  ...["tool_calls", "refusal", "annotations"]
]

/** Brings the fields of a delta into a draft: pieces are joined, of other fields the last that says something counts. */
const merge = (draft: Draft, delta: JsonObject, once: ReadonlyArray<string>) => {
  for (const [key, value] of Object.entries(delta)) {
    if (once.includes(key)) setFirst(draft, key, value)
    else if (pieces.has(key)) append(draft, key, value)
    else setLast(draft, key, value)
  }
}

/** Lists whose elements come in pieces, each with its `index`, as OpenRouter's `reasoning_details`. */
const makeIndexed = () => {
  const items: Array<Draft> = []
  const byIndex = new Map<string, Draft>()
  return {
    items,
    take: (item: Json) => {
      if (!isObject(item)) return
      const key = JSON.stringify([get(item, "index") ?? null, get(item, "type") ?? null])
      const known = byIndex.get(key)
      const draft = known ?? {}
      if (known === undefined) {
        items.push(draft)
        byIndex.set(key, draft)
      }
      merge(draft, item, ["id", "index", "type"])
    }
  }
}

/** Nesting of thoughts up to which they are joined. What is deeper is kept as it came. */
const maxDepth = 100

/** Content is text, or a list of blocks whose neighbours of one type are one block, as Mistral's. */
const makeContent = () => {
  let said: string | null | undefined
  let blocks: Array<Draft> | null = null

  const takeBlock = (into: Array<Draft>, block: Json, depth: number) => {
    const last = into.at(-1)
    const type = get(block, "type")
    if (!isObject(block)) return
    const key = depth < maxDepth && (type === "text" || type === "thinking") ? type : null
    if (last === undefined || key === null || last["type"] !== type) {
      const nested = depth < maxDepth ? list(get(block, "thinking")) : []
      const copy: Draft = { ...block }
      if (nested.length > 0) {
        const inner: Array<Draft> = []
        for (const piece of nested) takeBlock(inner, piece, depth + 1)
        copy["thinking"] = inner
      }
      into.push(copy)
      return
    }
    for (const [field, value] of Object.entries(block)) {
      const current = last[field]
      if (field === key && typeof value === "string" && typeof current === "string") last[field] = current + value
      else if (field === key && Array.isArray(value) && Array.isArray(current)) {
        for (const piece of value) takeBlock(current as Array<Draft>, piece as Json, depth + 1)
      } else setLast(last, field, value)
    }
  }

  return {
    take: (content: Json) => {
      if (content === null) said ??= null
      else if (Array.isArray(content)) {
        blocks ??= isEmpty(said) ? [] : [{ type: "text", text: said as string }]
        for (const block of content) takeBlock(blocks, block as Json, 0)
      } else if (typeof content === "string") {
        if (blocks === null) said = (said ?? "") + content
        else if (content !== "") takeBlock(blocks, { type: "text", text: content }, 0)
      }
    },
    value: (): Json => blocks ?? said ?? null
  }
}

interface Call {
  readonly fields: Draft
  /** The keys of nested objects, `function` or `custom`. */
  readonly nested: Map<string, Draft>
}

/**
 * Tool calls of one choice. A delta belongs to the call with its index, else to the one with its id, else to the last. Some
 * providers give every call the same index: another id with a name begins another call.
 */
const makeCalls = () => {
  const calls: Array<Call> = []
  const byIndex = new Map<number, Call>()
  const byId = new Map<string, Call>()

  const find = (delta: JsonObject, name: string | null): Call | undefined => {
    const index = delta["index"]
    const id = text(delta["id"])
    if (typeof index === "number") {
      const call = byIndex.get(index)
      const isAnother = id !== null && name !== null && id !== (text(call?.fields["id"]) ?? id)
      return isAnother ? undefined : call
    }
    if (id !== null) return byId.get(id)
    return name === null ? calls.at(-1) : undefined
  }

  const takeNested = (call: Call, key: string, value: JsonObject) => {
    const draft = call.nested.get(key) ?? {}
    call.nested.set(key, draft)
    if (!Object.hasOwn(call.fields, key)) define(call.fields, key, draft)
    for (const [field, piece] of Object.entries(value)) {
      if (field === "name") setFirst(draft, field, piece)
      else if (pieces.has(field)) append(draft, field, piece ?? "")
      else setLast(draft, field, piece)
    }
  }

  return {
    take: (delta: Json) => {
      if (!isObject(delta)) return
      const name = text(get(delta, "function", "name")) ?? text(get(delta, "custom", "name"))
      const known = find(delta, name)
      if (known === undefined && calls.length >= maxPlaces) return
      const call = known ?? { fields: {}, nested: new Map() }
      if (known === undefined) calls.push(call)
      const index = delta["index"]
      const id = text(delta["id"])
      if (typeof index === "number") byIndex.set(index, call)
      if (id !== null) byId.set(id, call)
      for (const [key, value] of Object.entries(delta)) {
        if ((key === "function" || key === "custom") && isObject(value)) takeNested(call, key, value)
        else if (key === "id") setFirst(call.fields, key, value)
        else setLast(call.fields, key, value)
      }
    },
    /** Only some providers repeat the index in an answer without streaming. */
    value: (withIndex: boolean): ReadonlyArray<Json> =>
      calls.map(({ fields }) =>
        withIndex ? fields : Object.fromEntries(Object.entries(fields).filter(([key]) => key !== "index"))
      )
  }
}

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
  const content = makeContent()
  const calls = makeCalls()
  const sound = makeSound()
  const legacy: Draft = {}
  const lists = new Map<string, ReturnType<typeof makeIndexed>>()
  const arrays = new Map<string, Array<Json>>()
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
      for (const item of value) items.push(item as Json)
    } else if (pieces.has(key)) return append(fields, key, value)
    else return setLast(fields, key, value)
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
