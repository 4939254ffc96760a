import { hexOf } from "./Hex.ts"

/** By what is there in pages that were not loaded over https, too. */
const ofBytes = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

/** A random UUID of version 4. */
export const random = (): string => crypto.randomUUID?.() ?? ofBytes()
