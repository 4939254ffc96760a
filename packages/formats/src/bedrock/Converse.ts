/**
 * Converse, Bedrock's own format for models of all makers: it is recorded as Anthropic's messages or OpenAI's chat completions, and what is
 * recorded is made of what was sent, and is not that itself.
 */
import type { Accumulator, Api, JsonObject } from "../Format.ts"
import { type ExactJson, parse, stringify } from "../json/ExactJson.ts"
import { get, isObject, text } from "../json/Read.ts"
import * as Accumulate from "../stream/Accumulate.ts"
import * as AsChatCompletions from "./AsChatCompletions.ts"
import * as AsMessages from "./AsMessages.ts"
import { builder } from "./ConverseStream.ts"

/** A call in another format. `model` is that of its path. */
export interface Rebuild {
  readonly api: Api
  readonly model: string | null
}

const formatOf = ({ api }: Rebuild) => (api === "provider1-chat-completions" ? AsChatCompletions : AsMessages)

const isAnswer = (value: JsonObject): boolean => isObject(get(value, "output", "message"))

/** A router of prompts says which model it has asked. */
const answerOf = (rebuild: Rebuild, answer: JsonObject): JsonObject =>
  formatOf(rebuild).answer(answer, text(get(answer, "trace", "promptRouter", "invokedModelId")) ?? rebuild.model)

const written = (json: string, rebuild: (value: JsonObject) => JsonObject): string => {
  const value = parse(json)
  return isObject(value) ? stringify(rebuild(value) as ExactJson) : json
}

/** The JSON text of a request. */
export const inputsOf = (rebuild: Rebuild, json: string): string =>
  written(json, (value) => formatOf(rebuild).request(value, rebuild.model))

/** The JSON text of an answer; errors are what they are. */
export const outputOf = (rebuild: Rebuild, json: string): string =>
  written(json, (value) => (isAnswer(value) ? answerOf(rebuild, value) : value))

/** What accumulates a stream. */
export const accumulator = (rebuild: Rebuild): Accumulator =>
  Accumulate.accumulator(builder((answer) => answerOf(rebuild, answer)))
