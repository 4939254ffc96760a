/** Streams of responses. */
import { errorOf } from "../facts/Errors.ts"
import type { Accumulator, Json, JsonObject } from "../Format.ts"
import { define } from "../json/ExactJson.ts"
import { get, isEmpty, isObject, list, says, text } from "../json/Read.ts"
import * as Accumulate from "../stream/Accumulate.ts"
import { append, assign, atPlace, byPlace, makeUses, maxPlaces, type Draft } from "../stream/Draft.ts"
import { lastOf } from "../stream/Usage.ts"

/** What the pieces of an event belong to. `item` and `block` name what the stream did not begin. */
interface Target {
  readonly item: string
  /** The field of the item that is a list of blocks, and the field of the event with the block's place in it. */
  readonly list?: "content" | "summary"
  readonly block?: string
  readonly field: string
}

/**
 * By the event's name between `response.` and `.delta` or `.done`, such as `mcp_call_arguments`, `reasoning_summary_text` and `refusal`: a
 * field of a call, a text of a summary, or else what a block of content says.
 */
const targetOf = (name: string): Target | null => {
  const [, call, given] = /^(\w+_call)_(\w+)$/.exec(name) ?? []
  if (call !== undefined) return { item: call, field: given as string }
  if (!/^\w+$/.test(name)) return null
  if (name.startsWith("reasoning_summary"))
    return { item: "reasoning", list: "summary", block: "summary_text", field: "text" }
  const field = name.endsWith("text") ? "text" : name
  return { item: name.startsWith("reasoning") ? "reasoning" : "message", list: "content", block: name, field }
}

/** Events that begin or end a block, by name, with the list that holds it. */
const blockEvents: ReadonlyMap<string, "content" | "summary"> = new Map([
  ["content_part", "content"],
  ["reasoning_part", "content"],
  ["reasoning_summary_part", "summary"]
])

/** The events after which nothing follows. */
const endings: ReadonlySet<string> = new Set(
  ["completed", "incomplete", "failed", "cancelled", "done"].map((name) => `response.${name}`)
)

/** What an item has before anything came for it. */
const skeletonOf = (type: string, id: Json | undefined): Draft => {
  const begun: Draft = { ...(id === undefined ? {} : { id }), type, status: "in_progress" }
  if (type === "message") return { ...begun, role: "assistant", content: [] }
  return type === "reasoning" ? { ...begun, summary: [] } : begun
}

const makeItem = (begun: JsonObject) => {
  let fields: Draft = { ...begun }
  let blocks = new Map<string, Map<number, Draft>>()

  const blocksOf = (key: string): Map<number, Draft> => {
    const known = blocks.get(key)
    if (known !== undefined) return known
    const made = new Map(list(get(fields, key)).map((block, index) => [index, isObject(block) ? { ...block } : {}]))
    blocks.set(key, made)
    return made
  }

  return {
    replace: (item: JsonObject) => {
      fields = { ...item }
      blocks = new Map()
    },
    setBlock: (key: string, index: number, block: JsonObject) => void blocksOf(key).set(index, { ...block }),
    /** The block at a place, begun where it was not. */
    block: (key: string, index: number, type: string): Draft => {
      const known = blocksOf(key).get(index)
      if (known !== undefined) return known
      const block: Draft = type === "output_text" ? { type, annotations: [] } : { type }
      blocksOf(key).set(index, block)
      return block
    },
    fields: () => fields,
    value: (): JsonObject => {
      const value: Draft = { ...fields }
      for (const [key, made] of blocks) value[key] = byPlace(made)
      return value
    }
  }
}

type Item = ReturnType<typeof makeItem>

/** The items by their place in the output. Their ids are no help: some gateways give an item another one in each event. */
const makeItems = () => {
  const items = new Map<number, Item>()
  const byId = new Map<string, number>()
  const uses = makeUses()
  let next = 0

  const placeOf = (payload: JsonObject, id: string | null): number => {
    const index = payload["output_index"]
    if (typeof index === "number") return uses.placeOf(index)
    if (id !== null && byId.has(id)) return byId.get(id) as number
    const isBegun = isObject(payload["item"])
    return isBegun || id !== null ? next : Math.max(0, next - 1)
  }

  return {
    at: (payload: JsonObject, type: string): Item => {
      const id = text(payload["item_id"]) ?? text(get(payload, "item", "id"))
      const place = placeOf(payload, id)
      const make = () => makeItem(skeletonOf(type, id ?? undefined))
      const item = atPlace(items, place, make)
      // What is said of it goes nowhere.
      if (item === undefined) return make()
      if (id !== null && byId.size < maxPlaces) byId.set(id, place)
      next = Math.max(next, place + 1)
      return item
    },
    /** An item that begins where another is, of another type or whole, is another one: some gateways give all of them one index. */
    begin: (payload: JsonObject, begun: JsonObject) => {
      const index = payload["output_index"]
      const before = items.get(placeOf(payload, null))?.fields()
      const [id, known] = [text(begun["id"]), text(before?.["id"])]
      const isWhole = before?.["status"] === "completed" && (id === null || id !== known)
      const isOther = before !== undefined && (before["type"] !== begun["type"] || isWhole)
      if (isOther && typeof index === "number") uses.again(index)
    },
    size: () => items.size,
    value: (): ReadonlyArray<Json> => byPlace(items).map((item) => item.value())
  }
}

const indexOf = (payload: JsonObject, key: "content" | "summary"): number => {
  const index = payload[`${key}_index`]
  return typeof index === "number" ? index : 0
}

const push = (draft: Draft, key: string, items: ReadonlyArray<Json>) => {
  const current = draft[key]
  // A list that came with the block is the payload's own: it is copied once, when the first item follows.
  const own = owned.has(current as object) ? (current as Array<Json>) : [...list(current)]
  owned.add(own)
  for (const item of items) own.push(item)
  draft[key] = own
}

/** Lists that a draft may change. */
const owned = new WeakSet<object>()

const builder = (): Accumulate.Builder => {
  let response: Draft | null = null
  let error: Json | null = null
  let isEnded = false
  const items = makeItems()

  const takePiece = (payload: JsonObject, target: Target, isDelta: boolean) => {
    const item = items.at(payload, target.item)
    const holder =
      target.list === undefined
        ? item.fields()
        : item.block(target.list, indexOf(payload, target.list), target.block as string)
    if (isDelta) append(holder, target.field, payload["delta"] ?? "")
    else if (typeof payload[target.field] === "string") holder[target.field] = payload[target.field] as string
    const logprobs = list(payload["logprobs"])
    if (isDelta && logprobs.length > 0) push(holder, "logprobs", logprobs)
  }

  const takeItemEvent = (payload: JsonObject, name: string, phase: string) => {
    if (name === "output_item") {
      if (!isObject(payload["item"])) return
      if (phase === "added") items.begin(payload, payload["item"])
      return items.at(payload, "unknown").replace(payload["item"])
    }
    const key = blockEvents.get(name)
    if (key !== undefined && isObject(payload["part"])) {
      const item = items.at(payload, name === "content_part" ? "message" : "reasoning")
      return item.setBlock(key, indexOf(payload, key), payload["part"])
    }
    if (name === "output_text.annotation" && !isEmpty(payload["annotation"])) {
      const block = items.at(payload, "message").block("content", indexOf(payload, "content"), "output_text")
      return push(block, "annotations", [payload["annotation"] as Json])
    }
    // Sound says neither its item nor its place. Of the others, some gateways do not.
    const isPlaced =
      /_call_|text$|^refusal$/.test(name) || ["item_id", "output_index"].some((key) => says(payload, key))
    const target = isPlaced && (phase === "delta" || phase === "done") ? targetOf(name) : null
    if (target !== null) takePiece(payload, target, phase === "delta")
  }

  return {
    take: (payload, event) => {
      const type = text(payload["type"]) ?? event
      const whole = payload["object"] === "response" ? payload : payload["response"]
      if (isObject(whole)) {
        // Some gateways put it beside the response.
        const beside = whole === payload ? null : payload["usage"]
        const before = lastOf(get(response, "usage"), beside)
        if (isObject(before)) define(whole, "usage", lastOf(before, whole["usage"]))
        response = whole as Draft
        isEnded ||= endings.has(type) || whole === payload
        return
      }
      const isBody = type === "" || payload["object"] === "error"
      if (type === "error" || isBody) {
        const { type: _type, sequence_number: _number, ...body } = payload
        // A body without a type is no event: a gateway's error, or something else in place of a stream.
        if (isBody && (type === "" || response === null)) assign((response ??= {}), payload)
        else error = isEmpty(body["error"]) ? body : (body["error"] as Json)
        return
      }
      const [, name, phase] = /^response\.(.+)\.(\w+)$/.exec(type) ?? []
      if (name !== undefined) takeItemEvent(payload, name, phase as string)
    },
    done: () => {
      isEnded = true
    },
    build: () => {
      const begun = items.size() > 0 || error === null ? { object: "response" } : {}
      const output: Draft = { ...(response ?? (items.size() > 0 ? begun : {})) }
      // The last event holds the whole output. Some leave it out there.
      if (items.size() > 0 && !(isEnded && list(output["output"]).length > 0)) output["output"] = items.value()
      if (error !== null && isEmpty(output["error"])) define(output, "error", error)
      return { output, ended: Accumulate.endedBy(errorOf(output) !== null, isEnded) }
    }
  }
}

export const accumulator = (): Accumulator => Accumulate.accumulator(builder())
