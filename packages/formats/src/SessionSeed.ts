/** What makes the calls of one conversation one session, where the application names none. */
import type { Api } from "./Format.ts"
import { formats } from "./Formats.ts"
import { seedBy } from "./Opening.ts"

/**
 * A text whose hash names the session of a call: its instructions and its messages up to the first of the user, in normal
 * form. It is the same for each call of a conversation that grows. A conversation that the provider keeps under an id is
 * named by that id.
 */
export const sessionSeed = (api: Api, inputs: unknown): string =>
  seedBy((formats as Partial<typeof formats>)[api], inputs)
