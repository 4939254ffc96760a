/** Names of sessions, agents, versions and people that an application gives. No call is lost for one that an event cannot have. */
import { allowed, isTooLong, shortened } from "@tachograph/formats/Names"
import { sha256Of } from "../platform/Sha256.ts"

/** A name as an event may have it, by the rule of the proxy's headers: an empty one is none, and one that is too long is cut. */
export const nameOf = async (value: unknown): Promise<string | undefined> => {
  if (value === undefined || value === null || value === "") return undefined
  const text = allowed(String(value))
  return isTooLong(text) ? shortened(text, await sha256Of(text)) : text
}
