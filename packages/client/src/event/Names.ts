/** Names of sessions, agents, versions and people that an application gives. No call is lost for one that an event cannot have. */
import { isTooLong, shortened } from "@tachograph/formats/Names"
import { sha256Of } from "../platform/Sha256.ts"

/** What no name may have: U+0000, and halves of surrogate pairs. */
const forbidden = /[\0\u{D800}-\u{DFFF}]/gu

/** A name as an event may have it, by the rule of the proxy's headers: an empty one is none, and one that is too long is cut. */
export const nameOf = async (value: unknown): Promise<string | undefined> => {
  if (value === undefined || value === null || value === "") return undefined
  const text = String(value).replace(forbidden, "\uFFFD")
  return isTooLong(text) ? shortened(text, await sha256Of(text)) : text
}
