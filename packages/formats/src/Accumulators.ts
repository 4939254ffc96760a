/** What accumulates the streams that go over the wire, by the name that an event carries. */
import { accumulator as ChatCompletions } from "./ChatCompletionsStream.ts"
import type { Accumulator, Api } from "./Format.ts"
import { accumulator as Interactions } from "./InteractionsStream.ts"
import { accumulator as Messages } from "./MessagesStream.ts"
import { accumulator as Models } from "./ModelsStream.ts"
import { accumulator as Responses } from "./ResponsesStream.ts"

export const accumulators: Readonly<Record<Exclude<Api, "aisdk">, () => Accumulator>> = {
  "provider1-chat-completions": ChatCompletions,
  "provider1-responses": Responses,
  "provider2-messages": Messages,
  "provider2-beta-messages": Messages,
  "provider3-models": Models,
  "provider3-interactions": Interactions
}
