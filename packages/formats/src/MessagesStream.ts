/** Builds an answer of Anthropic's messages from its stream. */
import type { Accumulator, Json, JsonObject } from "./Format.ts"
import { parse } from "./json/ExactJson.ts"
import { get, isObject, text } from "./json/Read.ts"
import * as Accumulate from "./stream/Accumulate.ts"

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

/** Sets a field. A new one comes behind the field `after`, where that is there, else at the end. */
const setField = (fields: Fields, key: string, value: Json, after?: string) => {
  if (fields.has(key) || after === undefined || !fields.has(after)) return fields.set(key, value)
  const entries = [...fields]
  const index = entries.findIndex(([name]) => name === after)
  fields.clear()
  for (const [name, item] of entries.toSpliced(index + 1, 0, [key, value])) fields.set(name, item)
  return fields
}

/** Replaces fields of the message one by one. Those that its start did not have come where the answer has them. */
const replaceFields = (message: Fields, changes: Json | undefined) => {
  let last: string | undefined
  for (const [key, value] of fieldsOf(changes)) {
    setField(message, key, value, key === "container" ? "content" : last)
    if (key !== "container") last = key
  }
}

/** Replaces counts one by one: they are cumulative. A null says nothing about what is known. */
const replaceCounts = (usage: Fields, changes: Json | undefined) => {
  for (const [key, value] of fieldsOf(changes)) {
    if (value === null && usage.has(key)) continue
    setField(usage, key, value, key === "output_tokens_details" ? "output_tokens" : undefined)
  }
}

const append = (fields: Fields, key: string, text: Json | undefined) => {
  if (typeof text !== "string") return
  const before = fields.get(key)
  fields.set(key, typeof before === "string" ? before + text : text)
}

/** Lists in blocks are the accumulator's own, because it has parsed them. */
const cite = ({ fields }: Block, citation: Json | undefined) => {
  if (citation === undefined) return
  const citations = fields.get("citations")
  if (Array.isArray(citations)) citations.push(citation)
  else fields.set("citations", [citation])
}

/** The input of a tool: what its JSON text says, or the text itself where it was cut or is no JSON. */
const inputOf = (json: string): Json => {
  try {
    return parse(json) as Json
  } catch {
    return json
  }
}

const blockOf = ({ fields, input }: Block): Json => {
  // Without a delta that is not empty, the input is the one with which the block began.
  if (input.trim() !== "") return Object.fromEntries(new Map(fields).set("input", inputOf(input)))
  return Object.fromEntries(fields)
}

const builder = (): Accumulate.Builder => {
  let message: Fields | undefined
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
    const content = message.get("content")
    blocks = Array.isArray(content) ? content.map((block: Json) => ({ fields: fieldsOf(block), input: "" })) : []
    blockAt = new Map(blocks.map((block, index) => [index, block]))
  }

  const startBlock = (index: Json | undefined, value: Json | undefined) => {
    if (!isObject(value)) return
    const block = { fields: fieldsOf(value), input: "" }
    blocks.push(block)
    blockAt.set(index, block)
  }

  const changeBlock = ({ fields }: Block, delta: JsonObject) => {
    // Such as `compaction_delta`: text is appended, and anything else replaces what was there.
    for (const [key, value] of Object.entries(delta)) {
      if (key === "type") continue
      if (typeof value === "string") append(fields, key, value)
      else if (value !== null || !fields.has(key)) fields.set(key, value)
    }
  }

  const readDelta = (index: Json | undefined, delta: Json | undefined) => {
    const block = blockAt.get(index)
    if (block === undefined || !isObject(delta)) return
    switch (delta["type"]) {
      case "text_delta":
        return append(block.fields, "text", delta["text"])
      case "thinking_delta":
        return append(block.fields, "thinking", delta["thinking"])
      case "signature_delta":
        return append(block.fields, "signature", delta["signature"])
      case "input_json_delta":
        block.input += text(delta["partial_json"]) ?? ""
        return
      case "citations_delta":
        return cite(block, delta["citation"])
      default:
        return changeBlock(block, delta)
    }
  }

  const changeMessage = ({ type: _type, delta, usage: counts, ...beside }: JsonObject) => {
    message ??= new Map()
    replaceFields(message, delta)
    const usage = fieldsOf(message.get("usage"))
    replaceCounts(usage, counts)
    if (usage.size > 0) message.set("usage", Object.fromEntries(usage))
    for (const [key, value] of Object.entries(beside)) message.set(key, value)
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
        isStopped = true
        return
      case "message":
        // The whole answer, from a server that does not stream.
        whole = event
        isStopped = true
        return
      default:
        if (event["type"] === "error" || isObject(event["error"]) || name === "error") error = event
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
    for (const [key, value] of Object.entries(error ?? {})) if (key !== "type") fields.set(key, value)
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
