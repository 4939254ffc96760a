/** Names of sessions, agents, versions and people that an application gives. No call is lost for one that an event cannot have. */
import { sha256Of } from "../platform/Sha256.ts"

/** Characters (code points) of a name. */
const maxLength = 255

/** What no name may have: U+0000, and halves of surrogate pairs. */
const forbidden = /[\0\u{D800}-\u{DFFF}]/gu

/**
 * A name as an event may have it, by the rule of the proxy's headers: an empty one is none, and one that is too long is cut and says by
 * its hash which it was, so that calls which were apart stay apart.
 */
export const nameOf = async (value: unknown): Promise<string | undefined> => {
  if (value === undefined || value === null || value === "") return undefined
  const text = String(value).replace(forbidden, "\uFFFD")
  const characters = Array.from(text)
  if (characters.length <= maxLength) return text
  const hash = await sha256Of(text)
  const end = hash === undefined ? "" : `-${hash}`
  return characters.slice(0, maxLength - end.length).join("") + end
}
