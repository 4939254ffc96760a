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

/** The content under construction. */
class Content {
  #blocks: Array<Block> = []
  #at = new Map<Json | undefined, Block>()

  /** Begins anew, with what the answer begins with. */
  reset(content: Json | undefined): void {
    this.#blocks = Array.isArray(content) ? content.map((block: Json) => ({ fields: fieldsOf(block), input: "" })) : []
    this.#at = new Map(this.#blocks.map((block, index) => [index, block]))
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0
  }

  add(index: Json | undefined, value: JsonObject): void {
    const block = { fields: fieldsOf(value), input: "" }
    this.#blocks.push(block)
    this.#at.set(index, block)
  }

  change(index: Json | undefined, delta: Json | undefined): void {
    if (!isObject(delta)) return
    const block = this.#blockOf(index, delta)
    if (block !== undefined) changeBlock(block, delta)
  }

  /** The block at an index, else the last one. A delta that can be none of its kind begins another: some gateways do not say so. */
  #blockOf(index: Json | undefined, delta: JsonObject): Block | undefined {
    const block = this.#at.get(index) ?? ((index ?? null) === null ? this.#blocks.at(-1) : undefined)
    const kind = kindOf.get(delta["type"])
    const type = block?.fields.get("type")
    if (kind === undefined || type === kind || (block !== undefined && !told.has(type))) return block
    this.add(index, { type: kind, [kind]: "" })
    return this.#blocks.at(-1)
  }

  get value(): ReadonlyArray<Json> {
    return this.#blocks.map(blockOf)
  }
}

const changeBlock = (block: Block, delta: JsonObject): void => {
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
      return changeOther(block, delta)
  }
}

/** Where the kind is new: text is appended, and anything else replaces what was there. */
const changeOther = ({ fields }: Block, delta: JsonObject): void => {
  for (const [key, value] of Object.entries(delta)) {
    if (key === "type") continue
    if (typeof value === "string") append(fields, key, value)
    else if (value !== null || !fields.has(key)) fields.set(key, value)
  }
}

/** An error, in the fields of an answer that failed. */
const failureOf = (error: JsonObject | undefined): JsonObject => {
  const { type, ...rest } = error ?? {}
  const told: JsonObject = type === undefined || type === "error" ? rest : { type, ...rest }
  // Beside an answer, only an object `error` or `errors` say why it failed.
  const isSaid = error === undefined || isObject(told["error"]) || Array.isArray(told["errors"])
  return isSaid ? told : { error: told }
}

const builder = (): Accumulate.Builder => {
  let message: Fields | undefined
  let usage: Fields = new Map()
  const content = new Content()
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
    content.reset(message.get("content"))
  }

  const startBlock = (index: Json | undefined, value: Json | undefined) => {
    if (!isObject(value)) return
    content.add(index, value)
    // The answer without streaming names the model that went on, where another one had declined.
    const served = value["type"] === "fallback" ? text(get(value, "to", "model")) : null
    if (served !== null) message?.set("model", served)
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
        return content.change(event["index"], event["delta"])
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
    if (message === undefined && content.isEmpty) return error ?? {}
    const fields: Fields = new Map(
      message ?? [
        ["type", "message"],
        ["role", "assistant"]
      ]
    )
    fields.set("content", content.value)
    if (usage.size > 0) fields.set("usage", Object.fromEntries(usage))
    for (const [key, value] of Object.entries(failureOf(error))) fields.set(key, value)
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
