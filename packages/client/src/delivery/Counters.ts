/** What became of the calls. */

export type DropReason =
  /**
   * The calls that wait or are under way hold as many bytes as they may, or too many calls of the AI SDK are under way, or one of
   * them for an hour.
   */
  | "memory"
  /** As many events wait as may. */
  | "queue-full"
  /** The event is longer than `maxEventBytes`. */
  | "too-large"
  /** The server refused the event, or the key of an event that is not on disk: `cause` says why. */
  | "refused"
  /** The event failed too often. */
  | "failed"
  /** `redact` threw, or answered nothing. */
  | "redacted"
  /** No event can be made: the request is not a JSON object, or request or response cannot be read without touching them. */
  | "unreadable"
  /** The process ended before the call was over, or before it was sent. */
  | "exit"
  /** A file of the spool is damaged, and was renamed, or somebody has removed the folder. */
  | "spool"

/** A call that is not recorded. */
export interface Drop {
  readonly reason: DropReason
  /** The key of the event, if that existed already. */
  readonly idempotencyKey?: string
  readonly cause?: unknown
}

/** Since the recorder was created. `recorded` is `sent`, `waiting`, `postponed`, and what was dropped after it was recorded. */
export interface Counters {
  /** Events that were accepted for sending. */
  readonly recorded: number
  /** Events that the server has stored. */
  readonly sent: number
  /** Attempts that failed and were or will be repeated. */
  readonly retried: number
  /** Events that wait or are being sent. */
  readonly waiting: number
  /** Events that are left in the spool for later, because they could not be sent. 0 without a spool. */
  readonly postponed: number
  /** Calls that are not over. */
  readonly underWay: number
  /** Calls that are over and not recorded yet: their events are made, or written to the spool, or wait for that. */
  readonly making: number
  /** Events in the folder of the spool, as far as is known: those that wait or are postponed, those for which there is no room yet, and those of other processes. */
  readonly onDisk: number
  /** Bytes that waiting events and calls under way hold in memory. */
  readonly heldBytes: number
  /** Calls that are not recorded, by reason. */
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>
  /**
   * Calls that a provider bills, and that are in no format that is recorded, such as embeddings: by path, with `*` for each part that may
   * be a name or an id.
   */
  readonly unrecognised: Readonly<Record<string, number>>
  /** Why the last attempt to send failed, in words. Absent after a success. */
  readonly problem?: string
}
