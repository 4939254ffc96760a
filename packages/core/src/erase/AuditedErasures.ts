/** Erasures that somebody asks for, with their two entries of the audit log: when they begin, and when they are complete. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { EventNotFound, PersonNotFound, SessionNotFound } from "../domain/Errors.ts"
import type { ErasureReceipt } from "../domain/ErasureReceipt.ts"
import type { EventId } from "../domain/Event.ts"
import type { PersonId } from "../domain/Person.ts"
import { CurrentProject, type ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { StoredAudit } from "../domain/AuditEntry.ts"
import type { Eraser } from "./Eraser.ts"
import type { Storage } from "../Storage.ts"
import type { Result } from "../storage/Result.ts"
import * as Audit from "../audit/Audit.ts"

export interface AuditedErasures {
  /** Erases the person and all their events. After an interruption, run it again to complete it. */
  readonly erasePerson: (id: PersonId) => Result<ErasureReceipt, PersonNotFound>
  /** Erases a session and its events. */
  readonly eraseSession: (session: SessionId) => Result<ErasureReceipt, SessionNotFound>
  /** Erases one event, and its session with the last one. */
  readonly eraseEvent: (id: EventId) => Result<ErasureReceipt, EventNotFound>
}

export const make = (storage: Storage["Service"], eraser: Eraser["Service"]): AuditedErasures => {
  const audited = Effect.fnUntraced(function* <E>(
    what: "session" | "person" | "event",
    name: string,
    erase: (project: ProjectId, begun: StoredAudit) => Effect.Effect<ErasureReceipt, E>
  ) {
    const project = yield* CurrentProject
    const subject = Audit.subjectOf(name)
    const receipt = yield* erase(project, yield* Audit.entry(`${what}-erasure`, subject))
    yield* complete(storage, project, yield* Audit.entry(`${what}-erased`, subject, receipt.events))
    return receipt
  })

  return {
    erasePerson: Effect.fn("Recorder.erasePerson")((id) =>
      audited("person", id, (project, begun) => eraser.erasePerson(project, id, begun))
    ),
    eraseSession: Effect.fn("Recorder.eraseSession")((session) =>
      audited("session", session, (project, begun) => eraser.eraseSession(project, session, begun))
    ),
    eraseEvent: Effect.fn("Recorder.eraseEvent")((id) =>
      audited("event", id, (project, begun) => eraser.eraseEvent(project, id, begun))
    )
  }
}

/** What was erased is erased, whether or not it can be written down. */
export const complete = (storage: Storage["Service"], project: ProjectId, entry: StoredAudit): Effect.Effect<void> =>
  Effect.catch(storage.appendAudit(project, entry), (error) =>
    Effect.logWarning(
      `The end of an erasure could not be written to the audit log (${entry.action})`,
      Cause.fail(error)
    )
  )
