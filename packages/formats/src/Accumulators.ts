/** What accumulates the streams that go over the wire, by the name that an event carries. */
import { accumulator as ChatCompletions } from "./openai/ChatCompletionsStream.ts"
import type { Accumulator, Api } from "./Format.ts"
import { accumulator as Interactions } from "./google/InteractionsStream.ts"
import { accumulator as Messages } from "./anthropic/MessagesStream.ts"
import { accumulator as Models } from "./google/ModelsStream.ts"
import { accumulator as Responses } from "./openai/ResponsesStream.ts"

export const accumulators: Readonly<Record<Exclude<Api, "aisdk">, () => Accumulator>> = {
  "provider1-chat-completions": ChatCompletions,
  "provider1-responses": Responses,
  "provider2-messages": Messages,
  "provider2-beta-messages": Messages,
  "provider3-models": Models,
  "provider3-interactions": Interactions
}
