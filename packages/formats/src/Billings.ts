/** What reads on what the price of a call depends besides its facts, by the name that an event carries. */
import { billing as AiSdk } from "./aisdk/AiSdk.ts"
import { billing as ChatCompletions } from "./openai/ChatCompletions.ts"
import type { Api, ReadBilling } from "./Format.ts"
import { billing as Interactions } from "./google/Interactions.ts"
import { billing as Messages } from "./anthropic/Messages.ts"
import { billing as Models } from "./google/Models.ts"
import { billing as Responses } from "./openai/Responses.ts"

export const billings: Readonly<Record<Api, ReadBilling>> = {
  "provider1-chat-completions": ChatCompletions,
  "provider1-responses": Responses,
  "provider2-messages": Messages,
  "provider2-beta-messages": Messages,
  "provider3-models": Models,
  "provider3-interactions": Interactions,
  aisdk: AiSdk
}
