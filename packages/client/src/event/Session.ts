/** The session of a call that names none. */
import type { Api } from "@tachograph/formats"
import { seedBy } from "@tachograph/formats/Opening"
import { readers } from "@tachograph/formats/Readers"
import * as Ids from "../platform/Ids.ts"

const hex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("")

/**
 * The SHA-256 of the instructions and the first user message: it stays the same while a conversation grows. A random id, so that
 * each call is a session of its own, where the platform cannot compute it, as in a page that was not loaded over https.
 */
export const derive = async (api: Api, inputs: unknown): Promise<string> => {
  const { subtle } = globalThis.crypto
  if (subtle === undefined) return Ids.random()
  return hex(
    await subtle.digest("SHA-256", new TextEncoder().encode(seedBy((readers as Partial<typeof readers>)[api], inputs)))
  )
}
