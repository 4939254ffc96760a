/** The session of a call for which nothing beside its body names one. */
import type { Api } from "@tachograph/formats"
import { seedBy } from "@tachograph/formats/Opening"
import { sessionInBody } from "@tachograph/formats/Programs"
import { readers } from "@tachograph/formats/Readers"
import * as Ids from "../platform/Ids.ts"
import { sha256Of } from "../platform/Sha256.ts"
import { nameOf } from "./Names.ts"

/**
 * The SHA-256 of the seed that is given, or of the instructions and the first user message: it stays the same while a conversation grows. A random id, so that
 * each call is a session of its own, where the platform cannot compute it.
 */
const derive = async (api: Api, inputs: unknown, seed?: string | null): Promise<string> =>
  (await sha256Of(seed ?? seedBy((readers as Partial<typeof readers>)[api], inputs))) ?? Ids.random()

/**
 * What a coding agent says in the body, else what is derived of that, or of the seed that is given. `program` is the agent that makes the
 * call, where it is known.
 */
export const find = async (
  api: Api,
  inputs: unknown,
  program: string | undefined,
  seed: string | null | undefined
): Promise<string> => (await nameOf(sessionInBody(inputs, program))) ?? (await derive(api, inputs, seed))
