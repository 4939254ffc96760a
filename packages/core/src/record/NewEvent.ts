import type { CallFields } from "../domain/Event.ts"
import type { Idempotency } from "../domain/IdempotencyKey.ts"
import type { JsonText } from "../domain/JsonText.ts"
import type { FactsRead } from "../facts/ReadFacts.ts"
import type { ScannedPayload } from "../payload/scan/PieceScanner.ts"

type RequiredField = "api" | "fingerprintId" | "session"

type Optional<Fields> = { readonly [Field in keyof Fields]?: Fields[Field] | null | undefined }

/** One model call as a client sends it. Fields that are absent or null get the defaults of the interface. */
export interface NewEvent extends Pick<CallFields, RequiredField>, Optional<Omit<CallFields, RequiredField>> {
  readonly payload: ScannedPayload
  /** The text of a JSON object, of at most `maxMetadataBytes`. */
  readonly metadata?: JsonText | null | undefined
  /** What the payload says, read while it was parsed. */
  readonly facts: FactsRead
  readonly idempotency?: Idempotency | undefined
  /** When its body was complete, in milliseconds on the clock of `performance.now()`. Now unless given. */
  readonly arrivedAtMs?: number | undefined
  /** True if the caller has reserved and enqueued the event with a permit of `Recorder.admission`. */
  readonly isAdmitted?: boolean | undefined
}
