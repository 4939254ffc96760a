/** Builds a result of the AI SDK from the parts of a stream: a model's (`doStream`), or a call's (`fullStream`). */
import type { Accumulated, Accumulator, JsonObject } from "../Format.ts"
import { settle, stringify } from "../json/ExactJson.ts"
import { get, isObject, rest, says, text } from "../json/Read.ts"
import { assign, type Draft } from "../stream/Draft.ts"
import { plain } from "./PlainParts.ts"
import * as StreamResults from "./StreamResults.ts"
import { copy, type Fields, StreamStep } from "./StreamStep.ts"

/** Parts that carry nothing of the answer. */
const silent: ReadonlySet<string> = new Set([
  "start",
  "raw",
  "ping",
  "tool-input-end",
  "tool-call-streaming-start",
  "step-start"
])

const builder = () => {
  const steps = [new StreamStep()]
  const result: Fields = new Map()
  /** A call's stream says where its steps begin; a model's is one step. */
  let isCall = false
  /** From version 7 on, usage and content of a result are those of all steps. */
  let isTotal = false
  let ended: Accumulated["ended"] = "cut"
  let metadata: Draft = {}
  const step = () => steps.at(-1)!

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
        return step().start("text", part)
      case "text-delta":
        return step().write("text", part)
      case "reasoning-start":
        return step().start("reasoning", part)
      case "reasoning-delta":
        return step().write("reasoning", part)
      case "text-end":
        return step().end("text", part)
      case "reasoning-end":
        return step().end("reasoning", part)
      case "reasoning":
        // A delta in version 4, and a whole text in the content of later ones.
        return says(part, "textDelta") ? step().write("reasoning", part) : step().add(part)
      case "tool-input-start":
      case "tool-input-delta":
        return step().writeInput(part, part["id"])
      case "tool-call-delta":
        return step().writeInput(part, part["toolCallId"], text(part["argsTextDelta"]) ?? "")
      case "tool-call":
        return step().put("call", part)
      case "tool-result":
      case "tool-error":
        return step().put("result", part)
      case "stream-start":
        return copy(fields, part, "warnings")
      case "response-metadata":
        // The metadata that grows is an object of the accumulator's own.
        if (fields.get("response") !== metadata) metadata = rest(fields.get("response")) as Draft
        assign(metadata, rest(part, new Set(["type"])))
        return fields.set("response", metadata)
      case "start-step":
        if (isCall || !step().isEmpty) steps.push(new StreamStep())
        isCall = true
        return copy(step().fields, part, "request", "warnings")
      case "finish-step":
        isCall = true
        isTotal ||= says(part, "performance")
        return copy(fields, part, ...StreamResults.resultFields)
      case "finish":
        return finish(part)
      case "error":
        ended = "error"
        return result.set("error", part["error"] ?? null)
      case "abort":
        return
      default:
        // Such as `source` and `file`, and kinds of content that are new.
        return silent.has(type) ? undefined : step().takeOther(part, type)
    }
  }

  return {
    take,
    build: () => {
      const error = result.get("error")
      const isEmpty = steps.every((each) => each.isEmpty && each.fields.size === 0)
      const told = () => (isCall ? StreamResults.ofCall(steps, result, isTotal) : StreamResults.ofModel(step()))
      const answer = isEmpty ? {} : told()
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
