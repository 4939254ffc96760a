/** Events, packs and pieces, as they are read. */
import type { EventNotFound } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { StoredPack } from "../payload/format/Pack.ts"
import type { PackRanges } from "../payload/format/PackRanges.ts"
import type { SessionState } from "./Appending.ts"
import type { EventQuery, FieldFilter, ListPage } from "./Lists.ts"
import type { Result } from "./Result.ts"
import type { EventPack, RangedPack, SessionRange, StoredEvent, StoredShared, StoredSummary } from "./Stored.ts"

export interface Reading {
  /**
   * An id such that every event of the project with this id or a lower one is visible to each read that starts now, or never
   * will be. It is that of no event, or of the newest one. Only events that were appended with ids that they had
   * before (without `hasNewId`) can appear below it later.
   *
   * It never decreases within a storage. It lags behind the newest event by as much as the storage needs to know that no
   * transaction still holds an older one, and stands still while a transaction is held.
   */
  readonly watermark: (project: ProjectId) => Result<EventId>
  /** The event, and its pack if that has at most `maxPackBytes` bytes. */
  readonly getEvent: (project: ProjectId, id: EventId, maxPackBytes?: number) => Result<StoredEvent, EventNotFound>
  /** Ordered by id, and therefore by time. */
  readonly listEvents: (project: ProjectId, query: EventQuery) => Result<ReadonlyArray<StoredSummary>>
  /**
   * The events of a list that also have these fields. Looks at about `maxLooked` events at most: then the page has fewer events
   * than `limit`, or none, and `next` says where to go on.
   */
  readonly findEvents: (
    project: ProjectId,
    query: EventQuery,
    fields: FieldFilter,
    maxLooked: number
  ) => Result<ListPage<StoredSummary, EventId>>
  /** Where the packs of the events of a list are: as `findEvents`, with few fields of the events. */
  readonly findPacks: (
    project: ProjectId,
    query: EventQuery,
    fields: FieldFilter,
    maxLooked: number
  ) => Result<ListPage<EventPack, EventId>>
  readonly getSession: (project: ProjectId, session: SessionId) => Result<SessionState | undefined>
  /** Those of the sessions that exist. */
  readonly getSessions: (
    project: ProjectId,
    sessions: ReadonlyArray<SessionId>
  ) => Result<ReadonlyMap<SessionId, SessionState>>
  /**
   * The existing packs of a session in these ranges, in ascending order, from one snapshot. With `newestBytes`, only the
   * newest of them whose sizes add up to at most this many bytes.
   */
  readonly readPacks: (
    project: ProjectId,
    session: number,
    ranges: PackRanges,
    newestBytes?: number
  ) => Result<ReadonlyArray<StoredPack>>
  /**
   * The existing packs of several sessions, each once, in the order of the sessions' numbers and of their own. The bytes of a
   * pack that has more than `maxPackBytes` are undefined.
   */
  readonly readPackRanges: (
    project: ProjectId,
    ranges: ReadonlyArray<SessionRange>,
    maxPackBytes: number
  ) => Result<ReadonlyArray<RangedPack>>
  /**
   * The existing shared pieces with these names (SHA-256). With `maxBytes`, only as many of them, in the order of `names`,
   * as have at most this many bytes of text in total.
   */
  readonly readShared: (
    project: ProjectId,
    names: ReadonlyArray<Uint8Array>,
    maxBytes?: number
  ) => Result<ReadonlyArray<StoredShared>>
  /** The bytes of the text of a shared piece. Undefined if there is none with this name. */
  readonly sharedTextBytes: (project: ProjectId, name: Uint8Array) => Result<number | undefined>
}
