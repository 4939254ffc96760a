import { builtin } from "./Builtins.ts"
import { hexOf } from "./Hex.ts"
import { bytesOf } from "./Utf8.ts"

/**
 * In hexadecimal digits. Undefined where the platform cannot compute it, as in a page that was not loaded over https. Node computes it
 * at once, in a twentieth of the time that it takes to give it to another thread.
 */
export const sha256Of = async (text: string): Promise<string | undefined> => {
  try {
    const digits = builtin("crypto")?.hash?.("sha256", text)
    if (digits !== undefined) return digits
  } catch {
    // What stands in for the module of Node throws.
  }
  const { subtle } = globalThis.crypto
  return subtle && hexOf(new Uint8Array(await subtle.digest("SHA-256", bytesOf(text))))
}
