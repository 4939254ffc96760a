/** Keys of maps. Unambiguous, because names contain no U+0000. */
import { createHash } from "node:crypto"
import type { ProjectId } from "../domain/Project.ts"

/** A session within its project. */
export const keyOf = (project: ProjectId, name: string): string => `${project}\u0000${name}`

/** The project of such a key. */
export const projectOf = (key: string): ProjectId => key.slice(0, key.indexOf("\u0000")) as ProjectId

/** An idempotency key within its session. */
export const idempotencyKeyOf = (project: ProjectId, session: string, key: string): string =>
  `${keyOf(project, session)}\u0000${key}`

/** What storages keep of an idempotency key: 22 characters for 128 bits of a hash of the session and the key. */
export const idempotencyKeyHash = (session: string, key: string): string =>
  createHash("sha256").update(`${session}\u0000${key}`).digest("base64url").slice(0, 22)
