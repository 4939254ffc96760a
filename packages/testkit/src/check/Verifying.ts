/** Runs a verification at full speed, and compares what it finds with what reads refuse. */
import {
  CurrentProject,
  type Errors,
  type EventId,
  type ProjectId,
  Recorder,
  type SessionId,
  type Storage,
  Throttle,
  Verifier
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Calls from "./Calls.ts"

type Service = Storage["Service"]

export interface Verified {
  readonly findings: ReadonlyArray<Verifier.Finding>
  readonly counts: Verifier.Counts
}

export interface Selection {
  readonly projects?: ReadonlyArray<ProjectId>
  readonly session?: SessionId
  readonly since?: EventId
}

export const verify: (
  storage: Service,
  selection?: Selection
) => Effect.Effect<Verified, Errors.SessionNotFound | Errors.StorageUnavailable> = Effect.fnUntraced(
  function* (storage, selection) {
    const counts = new Verifier.Counts()
    const findings: Array<Verifier.Finding> = []
    yield* Verifier.verify(storage, {
      projects: yield* storage.listProjects,
      ...selection,
      throttle: Throttle.unthrottled,
      counts,
      report: (finding) => Effect.sync(() => void findings.push(finding))
    })
    return { findings, counts }
  }
)

/** The events that a verification reports as damaged, in their order. */
export const damagedOf = ({ findings }: Pick<Verified, "findings">): ReadonlyArray<string> =>
  findings.flatMap(({ eventId, problem }) => (problem === "event-damaged" ? [eventId!] : [])).sort()

/** Which of these events of a project reads refuse as damaged, in their order. Dies if one fails otherwise. */
export const refusedOf = (storage: Service, project: ProjectId, ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const recorder = yield* Recorder
    const refused: Array<string> = []
    for (const id of ids) {
      const exit = yield* Effect.exit(recorder.getEvent(id as EventId))
      if (exit._tag === "Success") continue
      const error = String(exit.cause)
      if (error.includes("event-damaged")) refused.push(id)
      else if (!error.includes("event-not-found")) return yield* Effect.die(new Error(error))
    }
    return refused.sort()
  }).pipe(
    Effect.provide(Calls.recorderOver(storage)),
    Effect.provideService(CurrentProject, project),
    // Each damaged event is logged.
    Effect.provide(Logger.layer([]))
  )

/** As text, for messages: at most the first few. */
export const shown = ({ findings }: Pick<Verified, "findings">): ReadonlyArray<string> =>
  findings
    .slice(0, 5)
    .map(({ eventId = "", problem, reason, session = "" }) => `${problem} ${session} ${eventId} ${reason}`)
