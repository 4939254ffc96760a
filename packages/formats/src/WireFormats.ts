/** What captures know of the formats, by the name that an event carries. A bundle of it holds nothing that reads facts. */
import { reader as AiSdk } from "./aisdk/Conversation.ts"
import { wire as Messages } from "./anthropic/Messages.ts"
import type { Api, ConversationReader, WireApi, WireFormat } from "./Format.ts"
import { wire as Interactions } from "./google/Interactions.ts"
import { wire as Models } from "./google/Models.ts"
import { wire as ChatCompletions } from "./openai/ChatCompletions.ts"
import { wire as Responses } from "./openai/Responses.ts"

export const wireFormats: Readonly<Record<WireApi, WireFormat>> = {
  "provider1-chat-completions": ChatCompletions,
  "provider1-responses": Responses,
  "provider2-messages": Messages,
  "provider2-beta-messages": Messages,
  "provider3-models": Models,
  "provider3-interactions": Interactions
}

export const wireApis = Object.keys(wireFormats) as ReadonlyArray<WireApi>

/** What reads conversations, also those of calls that an application hands over. */
export const readers: Readonly<Record<Api, ConversationReader>> = { ...wireFormats, aisdk: AiSdk }
