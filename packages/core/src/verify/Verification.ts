/** What all parts of a verification share. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { Storage } from "../Storage.ts"
import type { Throttle } from "../Throttle.ts"
import type { CachedSource } from "./CachedSource.ts"
import type { Counts, Finding } from "./Finding.ts"

export interface Verification {
  readonly storage: Storage["Service"]
  readonly source: CachedSource
  /** Every step runs through it. */
  readonly throttle: Throttle
  readonly counts: Counts
  readonly report: (finding: Finding) => Effect.Effect<void>
  /** Damaged events that were reported, at most `maxReported`: an event may be come across more than once. */
  readonly reported: Set<EventId>
}

/** Of one project, which all that is reported names. */
export interface ProjectVerification extends Verification {
  readonly project: ProjectId
}

export const ofProject = (run: Verification, project: ProjectId): ProjectVerification => ({
  ...run,
  project,
  report: ({ problem, ...finding }) => run.report({ problem, project, ...finding })
})

export const maxReported = 10_000

/** Below the numbers of sessions and packs, also of those that damage has changed: a column holds 32 bits. */
export const belowAll = -(2 ** 31) + 1

/** How long the storage is waited for if it does not answer: about half a minute. */
const outage = { schedule: Schedule.spaced("1 second"), times: 30 }

/**
 * Runs a step. If the storage fails at it although it answers otherwise, that is reported, and the result is undefined. Fails
 * if the storage no longer answers.
 */
export const attempt = Effect.fnUntraced(function* <A>(
  run: Pick<Verification, "report" | "storage">,
  step: Effect.Effect<A, StorageUnavailable>,
  what: Omit<Finding, "problem" | "reason"> = {}
): Effect.fn.Return<A | undefined, StorageUnavailable> {
  for (let isRepeated = false; ; isRepeated = true) {
    const exit = yield* Effect.exit(step)
    if (Exit.isSuccess(exit)) return exit.value
    if (Cause.hasInterrupts(exit.cause)) return yield* exit
    yield* Effect.retry(run.storage.ping, outage)
    if (!isRepeated) continue
    const reason = `It cannot be read: ${messageOf(Cause.squash(exit.cause))}`
    yield* run.report({ ...what, problem: "unreadable", reason })
    return undefined
  }
})

/** The message of the innermost cause that has one. */
const messageOf = (error: unknown): string => {
  const messages: Array<string> = []
  for (let cause = error; typeof cause === "object" && cause !== null;) {
    const { cause: inner, message, reason } = cause as { cause?: unknown; message?: unknown; reason?: unknown }
    if (typeof message === "string" && message !== "") messages.push(message)
    cause = reason ?? inner
  }
  return (messages.at(-1) ?? String(error)).replaceAll(/\s+/g, " ")
}
