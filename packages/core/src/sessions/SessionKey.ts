/** A map key for a session id (or an idempotency key) within its project. Unambiguous, because names contain no U+0000. */
import type { ProjectId } from "../domain/Project.ts"

export const keyOf = (project: ProjectId, name: string): string => `${project}\u0000${name}`

/** The project of such a key. */
export const projectOf = (key: string): ProjectId => key.slice(0, key.indexOf("\u0000")) as ProjectId
