/** The session of a call that names none. */
import type { Api } from "@tachograph/formats"
import { seedBy } from "@tachograph/formats/Opening"
import { readers } from "@tachograph/formats/Readers"
import * as Ids from "../platform/Ids.ts"
import { sha256Of } from "../platform/Sha256.ts"

/**
 * The SHA-256 of the seed that is given, or of the instructions and the first user message: it stays the same while a conversation grows. A random id, so that
 * each call is a session of its own, where the platform cannot compute it.
 */
export const derive = async (api: Api, inputs: unknown, seed?: string | null): Promise<string> =>
  (await sha256Of(seed ?? seedBy((readers as Partial<typeof readers>)[api], inputs))) ?? Ids.random()
