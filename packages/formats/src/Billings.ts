/** What reads on what the price of a call depends besides its facts, by the name that an event carries. */
import { billing as AiSdk } from "./AiSdk.ts"
import { billing as ChatCompletions } from "./ChatCompletions.ts"
import type { Api, ReadBilling } from "./Format.ts"
import { billing as Interactions } from "./Interactions.ts"
import { billing as Messages } from "./Messages.ts"
import { billing as Models } from "./Models.ts"
import { billing as Responses } from "./Responses.ts"

export const billings: Readonly<Record<Api, ReadBilling>> = {
  "provider1-chat-completions": ChatCompletions,
  "provider1-responses": Responses,
  "provider2-messages": Messages,
  "provider2-beta-messages": Messages,
  "provider3-models": Models,
  "provider3-interactions": Interactions,
  aisdk: AiSdk
}
