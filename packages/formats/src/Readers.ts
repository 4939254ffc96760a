/** What reads the conversations of each format, by the name that an event carries. */
import { reader as AiSdk } from "./aisdk/AiSdk.ts"
import { reader as ChatCompletions } from "./openai/ChatCompletions.ts"
import type { Api, ConversationReader } from "./Format.ts"
import { reader as Interactions } from "./google/Interactions.ts"
import { reader as Messages } from "./anthropic/Messages.ts"
import { reader as Models } from "./google/Models.ts"
import { reader as Responses } from "./openai/Responses.ts"

export const readers: Readonly<Record<Api, ConversationReader>> = {
  "provider1-chat-completions": ChatCompletions,
  "provider1-responses": Responses,
  "provider2-messages": Messages,
  "provider2-beta-messages": Messages,
  "provider3-models": Models,
  "provider3-interactions": Interactions,
  aisdk: AiSdk
}
