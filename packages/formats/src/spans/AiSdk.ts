/** Calls that applications hand over: those of the AI SDK, and those that spans of OpenTelemetry tell, whoever made them. */
import { AiSdk as Calls } from "../aisdk/AiSdk.ts"
import type { Conversation, Format } from "../Format.ts"
import { arrayAt } from "../json/Places.ts"
import { get, isObject } from "../json/Read.ts"
import { messagesIn as answersIn } from "./Answers.ts"
import { isSpan } from "./Attributes.ts"
import { element } from "./Elements.ts"
import { billing, factPaths, facts } from "./Facts.ts"
import { conversations, instructionsIn, messagesIn, parametersIn, toolsIn } from "./Requests.ts"

/** A call of the AI SDK, whose messages may be written as those of others. */
const callIn = (inputs: unknown): Conversation => {
  const call = Calls.messages(inputs, null)
  const elements = arrayAt(inputs, conversations)?.elements
  return elements === undefined ? call : { ...call, input: elements.flatMap(element) }
}

const messages = (inputs: unknown, output: unknown): Conversation => {
  const sent = isSpan(inputs)
    ? {
        instructions: instructionsIn(inputs),
        tools: toolsIn(inputs),
        parameters: parametersIn(inputs),
        input: messagesIn(inputs)
      }
    : callIn(inputs)
  return { ...sent, output: isSpan(output) ? answersIn(output) : Calls.messages(null, output).output }
}

/** A message stands alone where each element of this array is one. */
const outputKey = "gen_ai.output.messages"

export const AiSdk: Format<unknown> = {
  ...Calls,
  messages,
  conversationPaths: conversations,
  element,
  facts: (inputs, output) => (isSpan(output) ? facts(inputs, output) : Calls.facts(inputs, output)),
  factPaths: [...Calls.factPaths, ...factPaths],
  billing: (inputs, output) => (isSpan(output) ? billing(inputs, output) : Calls.billing(inputs, output)),
  outputPath: (output, index) => {
    if (!isSpan(output)) return Calls.outputPath(output, index)
    const values = get(output, outputKey)
    const isOneEach = Array.isArray(values) && values.every(isObject) && answersIn(output).length === values.length
    return isOneEach ? [outputKey, index] : null
  }
}
