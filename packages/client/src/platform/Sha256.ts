const hex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("")

/** In hexadecimal digits. Undefined where the platform cannot compute it, as in a page that was not loaded over https. */
export const sha256Of = async (text: string): Promise<string | undefined> => {
  const { subtle } = globalThis.crypto
  return subtle && hex(await subtle.digest("SHA-256", new TextEncoder().encode(text)))
}
