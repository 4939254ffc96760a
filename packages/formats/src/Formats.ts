/** The formats by the name that an event carries. */
import type { Api, Format } from "./Format.ts"
import { Messages } from "./Messages.ts"
import { Models } from "./Models.ts"

export const formats = {
  "provider2-messages": Messages,
  "provider2-beta-messages": Messages,
  "provider3-models": Models
} satisfies Partial<Record<Api, Format<never>>>
