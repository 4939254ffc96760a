/** Names that a call brings along. No call is lost for one that no event may have. */
import { allowed, isTooLong, shortened } from "@tachograph/capture/Names"
import { hash } from "node:crypto"

/** A name as an event may have it. */
export const nameOf = (given: string): string => {
  const text = allowed(given)
  return isTooLong(text) ? shortened(text, hash("sha256", text)) : text
}
