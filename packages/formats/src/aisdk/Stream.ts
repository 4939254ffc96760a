/** Builds a result of the AI SDK from the parts of a stream: a model's (`doStream`), or a call's (`fullStream`). */
import type { Accumulated, Accumulator, Json, JsonObject } from "../Format.ts"
import { settle, stringify } from "../json/ExactJson.ts"
import { get, isObject, rest, says, text } from "../json/Read.ts"
import { assign, type Draft } from "../stream/Draft.ts"
import { laterOf } from "../stream/Usage.ts"

/** An object under construction. */
type Fields = Map<string, Json>

interface Step {
  /** The content in order. Texts that are being written are at their place from their start on. */
  readonly content: Array<Fields>
  /** Texts and inputs that are being written, and calls, by kind and id. */
  readonly open: Map<string, Fields>
  /** What the step says of itself, such as `usage`. */
  readonly fields: Fields
}

const makeStep = (): Step => ({ content: [], open: new Map(), fields: new Map() })

const toBase64 = (bytes: Uint8Array): string => {
  const pieces: Array<string> = []
  for (let at = 0; at < bytes.length; at += 32_768) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 32_768)))
  return btoa(pieces.join(""))
}

/** Values that JSON has no form for: bytes become Base64, and errors keep what makes them one. */
const replaceValue = (_key: string, value: unknown): unknown => {
  if (value instanceof Uint8Array) return toBase64(value)
  if (value instanceof Error) return Object.assign({ name: value.name, message: value.message }, value)
  return typeof value === "bigint" ? String(value) : value
}

/** Reads what may throw, such as a getter or a trap of a proxy. */
const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const isPlain = (value: unknown) => ["string", "boolean", "number"].includes(typeof value)

/**
 * A part as JSON. Only the plain fields that can be read are left where it has no such form, because it holds itself, is nested
 * too deep, or throws when it is read.
 */
const plain = (chunk: object): Json | undefined =>
  attempt(() => JSON.parse(JSON.stringify(chunk, replaceValue) ?? "null") as Json) ??
  (Object.fromEntries(
    (attempt(() => Object.keys(chunk)) ?? [])
      .map((key) => [key, attempt(() => (chunk as JsonObject)[key])] as const)
      .filter(([, value]) => isPlain(value))
  ) as JsonObject)

const fieldsOf = (value: JsonObject): Fields => new Map(Object.entries(value))

/** Parts that carry nothing of the answer. */
const silent: ReadonlySet<string> = new Set([
  "start",
  "raw",
  "ping",
  "tool-input-end",
  "tool-call-streaming-start",
  "step-start"
])

/** The text of a delta: `delta` from models, `text` from calls, and `textDelta` up to version 4. */
const deltaOf = (part: JsonObject): string => text(part["delta"]) ?? text(part["text"]) ?? text(part["textDelta"]) ?? ""

const append = (block: Fields, key: string, more: string) => block.set(key, `${text(block.get(key)) ?? ""}${more}`)

const usages: ReadonlySet<string> = new Set(["usage", "totalUsage"])

/** Copies the named fields that a part has. */
const copy = (into: Fields, part: JsonObject, ...keys: ReadonlyArray<string>) => {
  for (const key of keys) {
    const value = part[key]
    if (value !== undefined) into.set(key, usages.has(key) ? laterOf(into.get(key), value) : value)
  }
}

const blocksOf = ({ content }: Step): ReadonlyArray<JsonObject> => content.map((block) => Object.fromEntries(block))

/** In the order in which a call's result has them. `rawFinishReason` and `totalUsage` are none of a model's. */
const resultFields = [
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

const builder = () => {
  const steps: Array<Step> = [makeStep()]
  const result: Fields = new Map()
  /** A call's stream says where its steps begin; a model's is one step. */
  let isCall = false
  /** From version 7 on, usage and content of a result are those of all steps. */
  let isTotal = false
  let ended: Accumulated["ended"] = "cut"
  let metadata: Draft = {}

  const step = () => steps.at(-1) as Step

  const add = (block: Fields, key?: string) => {
    step().content.push(block)
    if (key !== undefined) step().open.set(key, block)
    return block
  }

  const write = (kind: string, part: JsonObject, more: string) => {
    const key = `${kind}:${part["id"] ?? ""}`
    const before = step().open.get(key)
    // Without ids, which version 4 has not, only a text that nothing followed goes on.
    const isOpen = before !== undefined && (says(part, "id") || before === step().content.at(-1))
    const block = isOpen
      ? before
      : add(
          new Map<string, Json>([
            ["type", kind],
            ["text", ""]
          ]),
          key
        )
    if (more !== "") append(block, "text", more)
    copy(block, part, "providerMetadata")
    return key
  }

  const writeInput = (part: JsonObject, id: Json | undefined, more: string) => {
    const key = `call:${id ?? ""}`
    const call = new Map<string, Json>([
      ["type", "tool-call"],
      ["toolCallId", id ?? ""]
    ])
    const block = step().open.get(key) ?? add(call, key)
    copy(block, part, "toolName", "providerExecuted", "dynamic")
    append(block, "input", more)
  }

  /** Puts a whole call or result into the place of one that was being written, or was preliminary. */
  const put = (key: string, part: JsonObject) => {
    const before = step().open.get(key)
    if (before === undefined) return add(fieldsOf(part), key)
    before.clear()
    for (const [name, value] of Object.entries(part)) before.set(name, value)
    return before
  }

  const endPart = (kind: string, part: JsonObject) => {
    step().open.delete(write(kind, part, ""))
  }

  /** Some providers give one id to all texts, and end none. */
  const startPart = (kind: string, part: JsonObject) => {
    const key = `${kind}:${part["id"] ?? ""}`
    if (text(step().open.get(key)?.get("text")) !== null) step().open.delete(key)
    return write(kind, part, deltaOf(part))
  }

  /** What is new: kinds of content, of which some come in pieces. */
  const takeOther = (part: JsonObject, type: string) => {
    const [, kind, phase] = /^(.+)-(start|delta|end)$/.exec(type) ?? []
    if (kind === undefined || text(part["id"]) === null) return add(fieldsOf(part))
    if (phase === "start") return startPart(kind, part)
    return phase === "end" ? endPart(kind, part) : write(kind, part, deltaOf(part))
  }

  const finish = (part: JsonObject) => {
    if (ended !== "error") ended = "done"
    isCall ||= isObject(part["totalUsage"])
    if (isCall) copy(result, part, "finishReason", "rawFinishReason", "totalUsage")
    else copy(step().fields, part, "finishReason", "usage", "providerMetadata", "logprobs")
  }

  const take = (part: JsonObject, type: string) => {
    const { fields } = step()
    switch (type) {
      case "text-start":
        return startPart("text", part)
      case "text-delta":
        return write("text", part, deltaOf(part))
      case "reasoning-start":
        return startPart("reasoning", part)
      case "reasoning-delta":
        return write("reasoning", part, deltaOf(part))
      case "text-end":
        return endPart("text", part)
      case "reasoning-end":
        return endPart("reasoning", part)
      case "reasoning":
        // A delta in version 4, and a whole text in the content of later ones.
        return !says(part, "textDelta") ? add(fieldsOf(part)) : write("reasoning", part, deltaOf(part))
      case "tool-input-start":
      case "tool-input-delta":
        return writeInput(part, part["id"], deltaOf(part))
      case "tool-call-delta":
        return writeInput(part, part["toolCallId"], text(part["argsTextDelta"]) ?? "")
      case "tool-call":
        return put(`call:${part["toolCallId"] ?? ""}`, part)
      case "tool-result":
      case "tool-error":
        return put(`result:${part["toolCallId"] ?? ""}`, part)
      case "stream-start":
        return copy(fields, part, "warnings")
      case "response-metadata":
        // The metadata that grows is an object of the accumulator's own.
        if (fields.get("response") !== metadata) metadata = rest(fields.get("response")) as Draft
        assign(metadata, rest(part, new Set(["type"])))
        return fields.set("response", metadata)
      case "start-step":
        if (isCall || step().content.length > 0) steps.push(makeStep())
        isCall = true
        return copy(step().fields, part, "request", "warnings")
      case "finish-step":
        isCall = true
        isTotal ||= says(part, "performance")
        return copy(fields, part, ...resultFields)
      case "finish":
        return finish(part)
      case "error":
        ended = "error"
        return result.set("error", part["error"] ?? null)
      case "abort":
        return
      default:
        // Such as `source` and `file`, and kinds of content that are new.
        return silent.has(type) ? undefined : takeOther(part, type)
    }
  }

  const stepOf = (one: Step): JsonObject => ({ content: blocksOf(one), ...pick(one.fields, resultFields) })

  const modelOf = (): JsonObject => ({
    content: blocksOf(step()).filter((block) => !isStart(block)),
    ...pick(step().fields, modelFields)
  })

  const callOf = (): JsonObject => {
    const last = blocksOf(step())
    const content = isTotal ? steps.flatMap(blocksOf) : last
    const only = (type: string) => content.filter((block) => block["type"] === type)
    const textOf = (type: string) =>
      last.flatMap((block) => (block["type"] === type ? [String(block["text"])] : [])).join("")
    const fields: Fields = new Map([...step().fields, ...result])
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

  return {
    take,
    build: () => {
      const error = result.get("error")
      const isEmpty = steps.every(({ content, fields }) => content.length === 0 && fields.size === 0)
      const answer = isEmpty ? {} : isCall ? callOf() : modelOf()
      return { output: { ...answer, ...(error === undefined ? {} : { error }) }, ended }
    }
  }
}

export const accumulator = (): Accumulator<unknown> => {
  const { take, build } = builder()
  return {
    push: (chunk) => {
      const part = typeof chunk === "object" && chunk !== null ? plain(chunk) : undefined
      const type = text(get(part, "type"))
      if (isObject(part) && type !== null) take(part, type)
    },
    end: () => {
      const { output, ended } = build()
      return { ...settle(output), ended }
    },
    size: () => stringify(build().output).length
  }
}
