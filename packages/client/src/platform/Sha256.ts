import { hexOf } from "./Hex.ts"

/** In hexadecimal digits. Undefined where the platform cannot compute it, as in a page that was not loaded over https. */
export const sha256Of = async (text: string): Promise<string | undefined> => {
  const { subtle } = globalThis.crypto
  return subtle && hexOf(new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text))))
}
