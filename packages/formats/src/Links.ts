/** How a call names the one that it continues, whatever its format. */
import type { Api, Format, Links } from "./Format.ts"
import { formats } from "./Formats.ts"

const all: Readonly<Record<Api, Format<never>>> = formats

/** Parameters that are links, and so differ from call to call. */
export const linkKeys: ReadonlySet<string> = new Set(Object.values(all).flatMap((format) => format.linkKeys ?? []))

const none: Links = { answer: null, previous: null, conversation: null }

/** `inputs` need not hold the messages. */
export const links = (api: Api, inputs: unknown, output: unknown): Links => all[api].links?.(inputs, output) ?? none
