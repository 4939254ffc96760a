/** What the parts of a reindexing share. */
import type { PriceList } from "@tachograph/prices"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type * as ReadFacts from "../facts/ReadFacts.ts"
import type { Storage } from "../Storage.ts"
import type { Throttle } from "../Throttle.ts"
import type { CachedSource } from "../verify/CachedSource.ts"

export interface Options {
  readonly projects: ReadonlyArray<ProjectId>
  /** Every step runs through it. */
  readonly throttle: Throttle
  /** Called with each event that is left as it is, at once. */
  readonly report: (left: LeftEvent) => Effect.Effect<void>
  /** Updated while it runs. */
  readonly counts: Counts
}

/** An event that cannot be read. */
export interface LeftEvent {
  readonly project: ProjectId
  /** Undefined if its row is damaged. */
  readonly session: SessionId | undefined
  /** Undefined if none of the session can be read. */
  readonly eventId: EventId | undefined
  /** What exactly is wrong: a clause without a full stop. Contains nothing of any text. */
  readonly reason: string
}

/** How much was done so far. */
export class Counts {
  /** Events whose facts and costs were computed anew, with those that are as they were. */
  events = 0
  /** Those of them whose facts or costs differ from what they were. */
  changed = 0
  /** Bytes of their `inputs` and `output`, as sent. */
  textBytes = 0
  /** Events that were left as they are. */
  left = 0
}

/** Of one project. */
export interface Reindexing extends Omit<Options, "projects"> {
  readonly project: ProjectId
  readonly storage: Storage["Service"]
  readonly source: CachedSource
  readonly prices: PriceList.PriceList
  /** By which events are computed now. */
  readonly rules: string
  readonly readFacts: typeof ReadFacts.read
  /** When the run began. Events that are recorded later are not waited for, or it might never end. */
  readonly startedAt: DateTime.Utc
}
