/** Builds an answer of Anthropic's messages from its stream. */
import { errorOf } from "../facts/Errors.ts"
import type { Accumulator, Json, JsonObject } from "../Format.ts"
import { parsedOrSame } from "../json/ExactJson.ts"
import { get, isObject, text } from "../json/Read.ts"
import * as Accumulate from "../stream/Accumulate.ts"
import { laterOf } from "../stream/Usage.ts"

/**
 * An object under construction. A map keeps the order of the wire, also for keys that look like integers, and any key is
 * data in it.
 */
type Fields = Map<string, Json>

/** A block of the content, and the JSON text of its `input` as far as it came. */
interface Block {
  readonly fields: Fields
  input: string
}

const fieldsOf = (value: Json | undefined): Fields => new Map(isObject(value) ? Object.entries(value) : [])

/** The fields that an answer without streaming has before those that its stream brings only at the end. */
const before: ReadonlyMap<string, string> = new Map([
  ["container", "content"],
  ["stop_sequence", "stop_reason"],
  ["stop_details", "stop_sequence"],
  ["output_tokens_details", "output_tokens"]
])

/** Replaces a field, unless by null, which says nothing. A new one comes at the end, or where its place is known. */
const replace = (fields: Fields, key: string, value: Json): void => {
  if (fields.has(key)) {
    if (value !== null) fields.set(key, value)
    return
  }
  const after = before.get(key)
  if (after === undefined || !fields.has(after)) return void fields.set(key, value)
  const entries = [...fields]
  fields.clear()
  for (const [name, item] of entries) {
    fields.set(name, item)
    if (name === after) fields.set(key, value)
  }
}

const append = (fields: Fields, key: string, text: Json | undefined) => {
  if (typeof text !== "string") return
  const written = fields.get(key)
  fields.set(key, typeof written === "string" ? written + text : text)
}

/** What a block is by its delta. */
const kindOf: ReadonlyMap<Json | undefined, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"]
])

/** Blocks of these types have deltas of their own only. */
const told: ReadonlySet<Json | undefined> = new Set(["text", "thinking", "tool_use", "server_tool_use", "mcp_tool_use"])

/** Lists in blocks are the accumulator's own, because it has parsed them. */
const cite = ({ fields }: Block, citation: Json | undefined) => {
  if (citation === undefined) return
  const citations = fields.get("citations")
  if (Array.isArray(citations)) citations.push(citation)
  else fields.set("citations", [citation])
}

const blockOf = ({ fields, input }: Block): Json => {
  // Without a delta that is not empty, the input is the one with which the block began.
  if (input.trim() !== "") return Object.fromEntries(new Map(fields).set("input", parsedOrSame(input)))
  return Object.fromEntries(fields)
}

/** An event of a type that is not known is none. A body without a type is a gateway's. */
const isError = (event: JsonObject, name: string): boolean =>
  event["type"] === "error" ||
  name === "error" ||
  isObject(event["error"]) ||
  ((text(event["type"]) === null || event["object"] === "error") && errorOf(event) !== null)

const builder = (): Accumulate.Builder => {
  let message: Fields | undefined
  let usage: Fields = new Map()
  let blocks: Array<Block> = []
  let blockAt = new Map<Json | undefined, Block>()
  let error: JsonObject | undefined
  let whole: JsonObject | undefined
  let isStopped = false

  const start = (value: Json | undefined) => {
    // Some gateways send the first event twice. Others begin again after they lost the provider: then the message that was
    // given up is not a part of the answer.
    const id = text(get(value, "id"))
    if (!isObject(value) || (id !== null && message?.get("id") === id)) return
    message = fieldsOf(value)
    usage = fieldsOf(message.get("usage"))
    const content = message.get("content")
    blocks = Array.isArray(content) ? content.map((block: Json) => ({ fields: fieldsOf(block), input: "" })) : []
    blockAt = new Map(blocks.map((block, index) => [index, block]))
  }

  const startBlock = (index: Json | undefined, value: Json | undefined) => {
    if (!isObject(value)) return
    const block = { fields: fieldsOf(value), input: "" }
    blocks.push(block)
    blockAt.set(index, block)
    // The answer without streaming names the model that went on, where another one had declined.
    const served = value["type"] === "fallback" ? text(get(value, "to", "model")) : null
    if (served !== null) message?.set("model", served)
  }

  const changeBlock = ({ fields }: Block, delta: JsonObject) => {
    // Where the kind is new: text is appended, and anything else replaces what was there.
    for (const [key, value] of Object.entries(delta)) {
      if (key === "type") continue
      if (typeof value === "string") append(fields, key, value)
      else if (value !== null || !fields.has(key)) fields.set(key, value)
    }
  }

  /** The block at an index, else the last one. A delta that can be none of its kind begins another: some gateways do not say so. */
  const blockOfDelta = (index: Json | undefined, delta: JsonObject): Block | undefined => {
    const block = blockAt.get(index) ?? ((index ?? null) === null ? blocks.at(-1) : undefined)
    const kind = kindOf.get(delta["type"])
    const type = block?.fields.get("type")
    if (kind === undefined || type === kind || (block !== undefined && !told.has(type))) return block
    startBlock(index, { type: kind, [kind]: "" })
    return blocks.at(-1)
  }

  const readDelta = (index: Json | undefined, delta: Json | undefined) => {
    if (!isObject(delta)) return
    const block = blockOfDelta(index, delta)
    if (block === undefined) return
    switch (delta["type"]) {
      case "text_delta":
        return append(block.fields, "text", delta["text"])
      case "thinking_delta":
        return append(block.fields, "thinking", delta["thinking"])
      case "signature_delta":
        if (text(delta["signature"]) !== null) block.fields.set("signature", delta["signature"] as Json)
        return
      case "input_json_delta":
        block.input += text(delta["partial_json"]) ?? ""
        return
      case "citations_delta":
        return cite(block, delta["citation"])
      case "compaction_delta":
        // It holds the whole of the block.
        for (const [key, value] of Object.entries(delta)) if (key !== "type") block.fields.set(key, value)
        return
      default:
        return changeBlock(block, delta)
    }
  }

  const changeMessage = ({ type: _type, delta, usage: counts, ...beside }: JsonObject) => {
    message ??= new Map()
    const { usage: within, ...fields } = isObject(delta) ? delta : {}
    for (const [key, value] of fieldsOf(fields)) replace(message, key, value)
    for (const [key, value] of fieldsOf(beside)) replace(message, key, value)
    // Counts are cumulative. Some gateways put them into the delta.
    for (const each of [within, counts])
      for (const [key, value] of fieldsOf(each)) replace(usage, key, laterOf(usage.get(key), value))
    if (usage.size > 0 && !message.has("usage")) message.set("usage", null)
  }

  const take = (event: JsonObject, name: string) => {
    // After its end, a stream says nothing about the answer.
    if (isStopped || error !== undefined) return
    switch (text(event["type"]) ?? name) {
      case "message_start":
        return start(event["message"])
      case "content_block_start":
        return startBlock(event["index"], event["content_block"])
      case "content_block_delta":
        return readDelta(event["index"], event["delta"])
      case "message_delta":
        return changeMessage(event)
      case "message_stop":
        if (isObject(event["usage"])) changeMessage({ usage: event["usage"] })
        isStopped = true
        return
      case "message":
        // The whole answer, from a server that does not stream.
        whole = event
        isStopped = true
        return
      default:
        if (isError(event, name)) error = event
    }
  }

  const outputOf = (): JsonObject => {
    if (whole !== undefined) return whole
    if (message === undefined && blocks.length === 0) return error ?? {}
    const fields: Fields = new Map(
      message ?? [
        ["type", "message"],
        ["role", "assistant"]
      ]
    )
    fields.set("content", blocks.map(blockOf))
    if (usage.size > 0) fields.set("usage", Object.fromEntries(usage))
    const { type, ...rest } = error ?? {}
    const told: JsonObject = type === undefined || type === "error" ? rest : { type, ...rest }
    // Beside an answer, only an object `error` or `errors` say why it failed.
    const isSaid = error === undefined || isObject(told["error"]) || Array.isArray(told["errors"])
    const failure: JsonObject = isSaid ? told : { error: told }
    for (const [key, value] of Object.entries(failure)) fields.set(key, value)
    return Object.fromEntries(fields)
  }

  const endedBy = () => {
    if (error !== undefined) return "error"
    // A stop reason is the last thing that an answer says. `message_stop` adds nothing to it.
    return isStopped || typeof message?.get("stop_reason") === "string" ? "done" : "cut"
  }

  return {
    take,
    done: () => {
      isStopped = true
    },
    build: () => ({ output: outputOf(), ended: endedBy() })
  }
}

export const accumulator = (): Accumulator => Accumulate.accumulator(builder())
