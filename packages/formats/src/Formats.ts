/** The formats by the name that an event carries. */
import { Messages } from "./anthropic/Messages.ts"
import type { Api, Format } from "./Format.ts"
import { Interactions } from "./google/Interactions.ts"
import { Models } from "./google/Models.ts"
import { ChatCompletions } from "./openai/ChatCompletions.ts"
import { Responses } from "./openai/Responses.ts"
import { AiSdk } from "./spans/AiSdk.ts"

export const formats = {
  "provider1-chat-completions": ChatCompletions,
  "provider1-responses": Responses,
  "provider2-messages": Messages,
  "provider2-beta-messages": Messages,
  "provider3-models": Models,
  "provider3-interactions": Interactions,
  aisdk: AiSdk
} satisfies Record<Api, Format<never>>
