/** Streams of Converse, whose events are named by their frames: the answer that the same call without streaming has. */
import type { Json, JsonObject } from "../Format.ts"
import { parsedOrSame } from "../json/ExactJson.ts"
import { get, isObject, text } from "../json/Read.ts"
import type { Builder } from "../stream/Accumulate.ts"
import { append, assign, atPlace, byPlace, type Draft } from "../stream/Draft.ts"

/** Of a block, what came in pieces: the text of a tool's input is JSON once it is whole. */
const takeDelta = (block: Draft, delta: JsonObject): void => {
  const tool = delta["toolUse"]
  const reasoning = delta["reasoningContent"]
  if (typeof delta["text"] === "string") return append(block, "text", delta["text"])
  if (isObject(tool)) {
    const use = (block["toolUse"] ??= {}) as Draft
    return append(use, "input", tool["input"] ?? "")
  }
  if (isObject(reasoning)) {
    const own = (block["reasoningContent"] ??= {}) as Draft
    if (reasoning["redactedContent"] !== undefined) return append(own, "redactedContent", reasoning["redactedContent"])
    const said = (own["reasoningText"] ??= {}) as Draft
    for (const key of ["text", "signature"]) if (reasoning[key] !== undefined) append(said, key, reasoning[key] ?? "")
    return
  }
  if (isObject(delta["citation"])) {
    block["citations"] = [...((block["citations"] as ReadonlyArray<Json> | undefined) ?? []), delta["citation"]]
    return
  }
  assign(block, delta)
}

/** A block with what the text of a tool's input says. */
const whole = (block: Draft): JsonObject => {
  const input = get(block, "toolUse", "input")
  if (typeof input !== "string") return block
  return {
    ...block,
    toolUse: { ...(block["toolUse"] as JsonObject), input: parsedOrSame(input === "" ? "{}" : input) }
  }
}

/** `rebuild` makes the output of the answer. */
export const builder = (rebuild: (answer: JsonObject) => JsonObject): Builder => {
  const blocks = new Map<number, Draft>()
  const about: Draft = {}
  let role: string | undefined
  let error: Json | undefined
  let isStopped = false
  const blockOf = (payload: JsonObject): Draft => {
    const at = payload["contentBlockIndex"]
    return atPlace(blocks, typeof at === "number" ? at : Math.max(0, blocks.size - 1), (): Draft => ({})) ?? {}
  }
  return {
    take: (payload, event) => {
      // Nova sends each event as an object of its name.
      const said = isObject(payload[event]) ? payload[event] : payload
      if (event === "error") error = said["error"] ?? said
      else if (event === "messageStart") role = text(said["role"]) ?? undefined
      else if (event === "contentBlockStart") {
        if (isObject(said["start"])) assign(blockOf(said), said["start"])
      } else if (event === "contentBlockDelta") {
        if (isObject(said["delta"])) takeDelta(blockOf(said), said["delta"])
      } else if (event === "messageStop") {
        isStopped = true
        assign(about, said, padding)
      } else if (event === "metadata") assign(about, said, padding)
    },
    done: () => {
      isStopped = true
    },
    build: () => {
      const hasBegun = role !== undefined || blocks.size > 0 || isStopped
      const message = { role: role ?? "assistant", content: byPlace(blocks).map(whole) }
      const output = hasBegun ? rebuild({ output: { message }, ...about }) : {}
      if (error !== undefined) return { output: { ...output, error }, ended: "error" }
      return { output, ended: isStopped ? "done" : "cut" }
    }
  }
}

/** What pads an event, so that its length says nothing. */
const padding: ReadonlySet<string> = new Set(["p"])
