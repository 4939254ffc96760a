/** Answers of providers that spans have within their attributes: read by the provider's own format, they say most. */
import { reader as anthropic } from "../anthropic/MessagesConversation.ts"
import * as AnthropicFacts from "../anthropic/MessagesFacts.ts"
import type { Facts, Json, Message, ReadBilling } from "../Format.ts"
import { reader as google } from "../google/ModelsConversation.ts"
import * as GoogleFacts from "../google/ModelsFacts.ts"
import { accumulator } from "../google/ModelsStream.ts"
import { stringify } from "../json/ExactJson.ts"
import { get, isEmpty, isObject, list, says } from "../json/Read.ts"
import { argumentsOf } from "../normal/Parts.ts"
import { reader as chat } from "../openai/ChatCompletionsConversation.ts"
import * as ChatFacts from "../openai/ChatCompletionsFacts.ts"
import { reader as responses } from "../openai/ResponsesConversation.ts"
import * as ResponsesFacts from "../openai/ResponsesFacts.ts"
import { valueAt } from "./Attributes.ts"
import { joined } from "./Genkit.ts"

interface Reader {
  readonly facts: (inputs: unknown, output: unknown) => Facts
  readonly billing: ReadBilling
}

export interface Body extends Reader {
  readonly value: Json
  readonly messages: ReadonlyArray<Message>
}

const formats: ReadonlyArray<readonly [is: (body: unknown) => boolean, reader: Reader, typeof chat.messages]> = [
  [(body) => Array.isArray(get(body, "choices")), ChatFacts, chat.messages],
  [(body) => Array.isArray(get(body, "candidates")) && says(body, "usageMetadata"), GoogleFacts, google.messages],
  [(body) => Array.isArray(get(body, "output")), ResponsesFacts, responses.messages],
  [(body) => Array.isArray(get(body, "content")) && says(body, "usage"), AnthropicFacts, anthropic.messages]
]

/** Gemini's stream as an array of its chunks. */
const whole = (body: Json): Json => {
  if (!list(body).some((chunk) => says(chunk, "candidates"))) return body
  const { end, push } = accumulator()
  push(new TextEncoder().encode(stringify(body)))
  return end().output
}

/** Where it is: an attribute, and keys within it. */
const places: ReadonlyArray<readonly [attribute: string, ...path: ReadonlyArray<string>]> = [
  ["mastra.metadata.body"],
  ["genkit:output", "raw"],
  ["genkit:output", "custom"],
  ["response_text"],
  ["output.value"]
]

export const bodyIn = (output: unknown): Body | null => {
  for (const [attribute, ...path] of places) {
    const found = get(valueAt(output, attribute), ...path)
    const value = whole((typeof found === "string" ? argumentsOf(found) : found) ?? null)
    const format = isObject(value) && !isEmpty(value) ? formats.find(([is]) => is(value)) : undefined
    if (format !== undefined) {
      const [, { billing, facts }, messages] = format
      return { value, facts, billing, messages: messages({}, value).output.map(joined) }
    }
  }
  return null
}
