/** How far someone has followed the events of a project. It means the same in every process over one database. */
import type { EventId } from "../domain/Event.ts"

export interface FollowPosition {
  /** All events up to this id were given, or did not match. At most the watermark. */
  readonly settled: EventId
  /** Events above it that were given, because they were visible before the watermark had reached them. */
  readonly given: ReadonlyArray<EventId>
}

/** More of them would make cursors long: what follows is given when the watermark has passed it, about a second later. */
export const maxGiven = 16

/** When all events up to `settled` were given. */
export const settle = ({ given, ...position }: FollowPosition, settled: EventId): FollowPosition =>
  settled <= position.settled ? { ...position, given } : { settled, given: given.filter((id) => id > settled) }

/** When an event was given. Undefined if it has to wait. */
export const give = ({ given, settled }: FollowPosition, id: EventId): FollowPosition | undefined =>
  given.length < maxGiven ? { settled, given: [...given, id] } : undefined
