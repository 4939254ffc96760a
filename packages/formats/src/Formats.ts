/** The formats by the name that an event carries. */
import type { Api, Format } from "./Format.ts"
import { Messages } from "./Messages.ts"

export const formats = {
  "provider2-messages": Messages,
  "provider2-beta-messages": Messages
} satisfies Partial<Record<Api, Format<never>>>
