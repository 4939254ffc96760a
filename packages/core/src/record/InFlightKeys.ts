/**
 * Idempotency keys of events that this process is committing. A second request with the same key in the same session waits for
 * the first one here; keys of events that are committed are known to the storage.
 */
import type { ProjectId } from "../domain/Project.ts"
import { idempotencyKeyOf } from "../sessions/SessionKey.ts"
import { InFlight } from "./InFlight.ts"

/** Where a key is unique. */
interface Scope {
  readonly project: ProjectId
  readonly session: string
}

export class InFlightKeys<Job> {
  readonly #jobs = new InFlight<Job, string>()

  /** The job that holds the key. If none does, `start` makes one, which holds it until `release`. */
  claim({ project, session }: Scope, key: string, start: () => Job): { readonly job: Job; readonly isFirst: boolean } {
    const name = idempotencyKeyOf(project, session, key)
    const holder = this.#jobs.get(name)
    if (holder !== undefined) return { job: holder, isFirst: false }
    const job = start()
    this.#jobs.set(name, job)
    return { job, isFirst: true }
  }

  release({ project, session }: Scope, key: string): void {
    this.#jobs.delete(idempotencyKeyOf(project, session, key))
  }
}
