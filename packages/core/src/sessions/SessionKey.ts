/** One text for a session (or an idempotency key) and its project: names contain no U+0000. */
import type { ProjectId } from "../domain/Project.ts"

export const keyOf = (project: ProjectId, name: string): string => `${project}\u0000${name}`
