/** What reads the conversations of each format, by the name that an event carries. */
import { reader as AiSdk } from "./AiSdk.ts"
import { reader as ChatCompletions } from "./ChatCompletions.ts"
import type { Api, ConversationReader } from "./Format.ts"
import { reader as Interactions } from "./Interactions.ts"
import { reader as Messages } from "./Messages.ts"
import { reader as Models } from "./Models.ts"
import { reader as Responses } from "./Responses.ts"

export const readers: Readonly<Record<Api, ConversationReader>> = {
  "provider1-chat-completions": ChatCompletions,
  "provider1-responses": Responses,
  "provider2-messages": Messages,
  "provider2-beta-messages": Messages,
  "provider3-models": Models,
  "provider3-interactions": Interactions,
  aisdk: AiSdk
}
