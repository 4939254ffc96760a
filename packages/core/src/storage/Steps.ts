/** Steps of sessions, as a storage keeps them. Their texts are in packs of their sessions, of which each holds those of one group. */
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type { AgentName } from "../domain/Agent.ts"
import type { AgentVersionName } from "../domain/AgentVersion.ts"
import type { PersonId } from "../domain/Person.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { SpanId, TraceId } from "../domain/Trace.ts"
import type { NewPack, SessionConflict } from "./Appending.ts"
import type { ErasableSteps } from "./Erasing.ts"
import type { Result } from "./Result.ts"

/** What distinguishes the steps of a session. */
export interface StepKey {
  readonly traceId: TraceId
  readonly spanId: SpanId
}

/** What the steps of a group have in common. */
export interface StepNames {
  readonly session: SessionId
  readonly agent: AgentName
  readonly agentVersion: AgentVersionName
  readonly person: PersonId | null
  readonly receivedAt: DateTime.Utc
}

/** Where the text of a step is: in the output of its pack, in bytes. */
export interface PlacedStep extends StepKey {
  readonly occurredAt: DateTime.Utc
  readonly start: number
  readonly bytes: number
  /** `Checksum.ofStep`. */
  readonly checksum: number
}

export interface AppendSteps extends StepNames {
  readonly pack: NewPack
  readonly steps: ReadonlyArray<PlacedStep>
}

/** A name that is missing, because of damage, makes the checksum another one. */
export interface StoredStep extends StepNames, PlacedStep {
  readonly sessionNumber: number
  /** The number of the pack. */
  readonly pack: number
}

/** Steps of all of these names that were received from `fromMs` on (epoch ms). */
export interface StepFilter {
  readonly session?: SessionId | undefined
  readonly agent?: AgentName | undefined
  readonly agentVersion?: AgentVersionName | undefined
  readonly person?: PersonId | undefined
  readonly fromMs: number
}

/** The order of a session's steps. */
export interface StepPlace {
  readonly occurredAtMs: number
  readonly pack: number
  readonly start: number
}

export const placeOf = ({ occurredAt, pack, start }: StoredStep): StepPlace => ({
  occurredAtMs: occurredAt.epochMilliseconds,
  pack,
  start
})

export const comparePlaces = (a: StepPlace, b: StepPlace): number =>
  a.occurredAtMs - b.occurredAtMs || a.pack - b.pack || a.start - b.start

/** Some of the steps exist, or their sessions have no events. Nothing was appended. */
export class StepConflict extends Data.TaggedError("step-conflict")<{
  readonly taken: ReadonlyArray<StepKey & { readonly session: SessionId }>
  readonly withoutEvents: ReadonlyArray<SessionId>
}> {}

export interface Steps {
  /**
   * Appends all groups of steps or none, as `appendEvents` does events, but creates no session. No two steps of one session in a call may
   * have the same key.
   */
  readonly appendSteps: (
    project: ProjectId,
    groups: ReadonlyArray<AppendSteps>
  ) => Result<void, SessionConflict | StepConflict>
  /** At most `limit` steps of a session, by its number, after a place, in the order of their places. */
  readonly listSteps: (
    project: ProjectId,
    session: number,
    after: StepPlace | undefined,
    limit: number
  ) => Result<ReadonlyArray<StoredStep>>
  /**
   * At most `limit` steps that the filter finds, after another one, in the order of their receipt, then of the numbers of their sessions
   * and packs, and of their texts.
   */
  readonly findSteps: (
    project: ProjectId,
    filter: StepFilter,
    after: StoredStep | undefined,
    limit: number
  ) => Result<ReadonlyArray<StoredStep>>
  /**
   * Deletes the steps of at most `limit` packs, and marks their sessions as pending sweep: `before` those that were received before the time
   * in the id. Returns how many packs. The steps of a session without events are deleted with it.
   */
  readonly eraseSteps: (project: ProjectId, which: ErasableSteps, limit: number) => Result<number>
}
