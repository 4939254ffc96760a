import type { AgentName } from "../domain/Agent.ts"
import type { AgentVersionName } from "../domain/AgentVersion.ts"
import type { Api, EventSummary, ModelFacts } from "../domain/Event.ts"
import type { FingerprintId } from "../domain/Fingerprint.ts"
import type { Idempotency } from "../domain/IdempotencyKey.ts"
import type { PersonId } from "../domain/Person.ts"
import type { SessionId } from "../domain/Session.ts"
import type { ScannedPayload } from "../payload/scan/PieceScanner.ts"

/** One model call as a client hands it in. What is absent gets the defaults of the interface. */
export interface NewEvent {
  readonly api: Api
  readonly fingerprintId: FingerprintId
  readonly session: SessionId
  readonly agent?: AgentName | null | undefined
  readonly agentVersion?: AgentVersionName | null | undefined
  readonly person?: PersonId | null | undefined
  readonly occurredAt?: EventSummary["occurredAt"] | undefined
  readonly durationMs?: number | null | undefined
  readonly payload: ScannedPayload
  readonly facts: ModelFacts
  readonly idempotency?: Idempotency | undefined
  /** When its body was complete, in milliseconds on the clock of `performance.now()`. Now unless given. */
  readonly arrivedAtMs?: number | undefined
  /** The caller holds a permit of `Recorder.admission` for it, in which it is enqueued. */
  readonly isAdmitted?: boolean | undefined
}
