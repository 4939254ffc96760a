/**
 * Parts of events that are not complete yet: spans and logs that came before what says to which session they belong. They wait for minutes
 * at most. What joins them is a group, such as a trace, which is finished as a whole as soon as one of its parts is due: by any process,
 * also after a restart.
 *
 * A part is no event yet: lists, figures, exports and copies of a storage leave it out. An erasure finishes all groups of the project before
 * it erases: see `listWaitingGroups`.
 */
import type { ProjectId } from "../domain/Project.ts"
import type { ListPage } from "./Lists.ts"
import type { Result } from "./Result.ts"

/** Names a part. Both texts are 1 to 100 characters of ASCII. */
interface PartName {
  readonly group: string
  /** Unique within its group. */
  readonly part: string
}

export interface WaitingPart extends PartName {
  /** When it came (epoch ms). */
  readonly since: number
  /** When its group is to be finished at the latest (epoch ms). Undefined for what only says something of other parts, which ends after them. */
  readonly due: number | undefined
  /** Bytes of what `content` holds, before it was compressed. Of two contents of a part, the larger one says more. */
  readonly size: number
  /** Opaque. */
  readonly content: Uint8Array
}

/** What was read of a part. A part that was replaced since has another size. */
export type ReadPart = Pick<WaitingPart, "part" | "size">

/** The last part of a page. */
export type WaitingPlace = Pick<WaitingPart, "part" | "since">

export interface WaitingGroup {
  readonly project: ProjectId
  readonly group: string
}

/** What changes many parts or groups does it some hundreds at a time, between which events are committed: after a failure some may be changed. */
export interface Waiting {
  /** Keeps parts. Of one that is kept already, the larger content counts, and the earlier times. */
  readonly hold: (project: ProjectId, parts: ReadonlyArray<WaitingPart>) => Result<void>
  /**
   * Makes those of the groups due that have more parts than it is given, one of them with a due time, if none of them is due at this time (epoch
   * ms) or earlier.
   */
  readonly makeDue: (project: ProjectId, groups: ReadonlyMap<string, number>, at: number) => Result<void>
  /** Those of the groups in which a part waits that is to become due. */
  readonly waitingAmong: (project: ProjectId, groups: ReadonlyArray<string>) => Result<ReadonlyArray<string>>
  /** Makes a group due at this time (epoch ms) and not earlier: for one that could not be finished. */
  readonly postpone: (project: ProjectId, group: string, to: number) => Result<void>
  /**
   * At most `limit` groups of all projects that are due at this time (epoch ms), in the order of the times. Fewer where groups have
   * hundreds of due parts, but at least one if any is due. Several processes get the same groups.
   */
  readonly dueGroups: (now: number, limit: number) => Result<ReadonlyArray<WaitingGroup>>
  /**
   * The parts of a group, oldest first, after a place of it. As many as have at most `maxBytes` in `size` together, 1,000 at most; at
   * least one if there are any. Parts that are replaced meanwhile may be missing; they still wait.
   */
  readonly readWaiting: (
    project: ProjectId,
    group: string,
    after: WaitingPlace | undefined,
    maxBytes: number
  ) => Result<ListPage<WaitingPart, WaitingPlace>>
  /** Deletes parts of a group, but none that was replaced since it was read. */
  readonly endWaiting: (project: ProjectId, group: string, parts: ReadonlyArray<ReadPart>) => Result<void>
  /** Deletes parts that are never due and came before a time (epoch ms), but for those of groups in which another part waits. */
  readonly endContexts: (before: number) => Result<void>
  /** Groups of a project, whether or not they are due, in the order of their names: those after one of them, if it is given. */
  readonly listWaitingGroups: (
    project: ProjectId,
    after: string | undefined,
    limit: number
  ) => Result<ReadonlyArray<string>>
  /** How many parts are to become due, of all projects. */
  readonly countWaiting: Result<number>
}

/** The most parts of a page of `readWaiting`. */
export const maxPageParts = 1_000

/** What is kept of a part that comes again. */
export const merge = (kept: WaitingPart, part: WaitingPart): WaitingPart => ({
  ...(part.size > kept.size ? part : kept),
  since: Math.min(kept.since, part.since),
  due: kept.due === undefined || part.due === undefined ? (kept.due ?? part.due) : Math.min(kept.due, part.due)
})
