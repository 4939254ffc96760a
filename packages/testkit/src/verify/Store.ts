/** A store with everything that a verification looks at: sessions with erased events, swept or not, and shared pieces. */
import { CurrentProject, PersonId, ProjectId, Recorder, SessionId, type Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Calls from "../check/Calls.ts"
import { stepOf } from "../check/Steps.ts"

type Service = Storage["Service"]

const project = ProjectId.make("default")
const other = ProjectId.make("other")

/** From which the events of one person were erased, and after that more recorded. */
const swept = SessionId.make("swept")
/** In which nothing was ever erased. */
const whole = SessionId.make("whole")
/** With steps beside its events. */
const traced = SessionId.make("traced")
/** With events that were deleted, but whose payloads are not swept yet. */
const pending = SessionId.make("pending")

const record = (storage: Service, calls: ReadonlyArray<Calls.Call>, of = project) =>
  Effect.gen(function* () {
    yield* Calls.putFingerprint(storage, of)
    const recorder = yield* Recorder
    return yield* Effect.forEach(calls, (call) => Calls.record(recorder, call))
  }).pipe(Effect.provide(Calls.recorderOver(storage)), Effect.provideService(CurrentProject, of))

export const fill: (storage: Service) => Effect.Effect<void, unknown> = Effect.fnUntraced(function* (storage) {
  const people = ["alice", "carlotta"]
  yield* record(storage, [
    ...Calls.take(Calls.calls(swept, ["alice", "bob", "carlotta"], 1), 14),
    ...Calls.take(Calls.calls(whole, people, 2), 8)
  ])
  yield* Effect.flatMap(Recorder, (recorder) => recorder.erasePerson(PersonId.make("bob"))).pipe(
    Effect.provide(Calls.recorderOver(storage))
  )
  yield* record(storage, [
    ...Calls.take(Calls.calls(swept, people, 3), 4),
    ...Calls.take(Calls.calls(pending, ["dora", "carlotta"], 4), 6)
  ])
  yield* storage.eraseEvents(project, { person: PersonId.make("dora") }, 1_000)
  yield* record(storage, Calls.take(Calls.calls("s", people, 5), 2), other)
  yield* record(storage, Calls.take(Calls.calls(traced, ["eve"], 6), 2))
  yield* Effect.flatMap(Recorder, (recorder) =>
    Effect.forEach([null, PersonId.make("eve")], (person, n) =>
      recorder.recordSteps({ session: traced, person, steps: [1, 2].map((m) => stepOf(10 * n + m)) })
    )
  ).pipe(Effect.provide(Calls.recorderOver(storage)))
})
