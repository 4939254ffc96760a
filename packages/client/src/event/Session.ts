/** The session of a call for which nothing beside its body names one. */
import { sessionInBody } from "@tachograph/capture/Programs"
import { sessionSeed } from "@tachograph/capture/SessionSeed"
import type { Api } from "@tachograph/formats"
import * as Ids from "../platform/Ids.ts"
import { sha256Of } from "../platform/Sha256.ts"
import { nameOf } from "./Names.ts"

/**
 * What a coding agent says in the body, else the SHA-256 of the seed that is given, or of that of the conversation. A random id, so that each
 * call is a session of its own, where the platform cannot compute it. `program` is the agent that makes the call, where it is known.
 */
export const find = async (
  api: Api,
  inputs: unknown,
  program: string | undefined,
  seed: string | null | undefined
): Promise<string> =>
  (await nameOf(sessionInBody(inputs, program))) ?? (await sha256Of(seed ?? sessionSeed(api, inputs))) ?? Ids.random()
