/** Names of sessions, agents, versions and people that an application gives. No call is lost for one that an event cannot have. */
import { allowed, isTooLong, shortened } from "@tachograph/formats/Names"
import { sha256Of } from "../platform/Sha256.ts"

/** Empty where a value has no text, such as an object without a prototype. */
const textOf = (value: unknown): string => {
  try {
    return String(value ?? "")
  } catch {
    return ""
  }
}

/** A name as an event may have it, by the rule of the proxy's headers: an empty one is none, and one that is too long is cut. */
export const nameOf = async (value: unknown): Promise<string | undefined> => {
  const text = allowed(textOf(value))
  if (text === "") return undefined
  return isTooLong(text) ? shortened(text, await sha256Of(text)) : text
}
