/** What is recorded into a store before it is damaged, and what is recorded into it afterwards. */
import {
  CurrentProject,
  type EventId,
  JsonText,
  PersonId,
  ProjectId,
  Recorder,
  SessionId,
  Storage
} from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import * as Effect from "effect/Effect"
import * as Random from "../harness/Random.ts"

const { Calls, Steps } = StorageSuite

export interface Known {
  readonly id: EventId
  readonly project: ProjectId
  readonly call: StorageSuite.Calls.Call
}

interface Conversation {
  readonly project: ProjectId
  readonly session: string
  /** Before the damage. */
  readonly calls: ReadonlyArray<StorageSuite.Calls.Call>
  /** After it. */
  readonly later: ReadonlyArray<StorageSuite.Calls.Call>
}

export interface Plan {
  readonly conversations: ReadonlyArray<Conversation>
  readonly people: ReadonlyArray<string>
  /** Whose events are erased before the damage, from the first session. */
  readonly erased: string
}

const project = ProjectId.make("default")
const otherProject = ProjectId.make("other")

/** Calls of the sessions before and after the damage. */
const sizes: ReadonlyArray<readonly [project: ProjectId, before: number, after: number]> = [
  [project, 24, 3],
  [project, 16, 2],
  [project, 8, 2],
  [otherProject, 6, 1],
  // Begins after the damage.
  [project, 0, 2]
]

/** Its names occur nowhere else, so that they can be looked for in a file. */
export const planOf = (seed: number, store: number): Plan => {
  const random = Random.of(seed, "store", store)
  const nameOf = (kind: string, n: number) => `${kind}-${n}-${Random.text(10 + n, seed, store, kind, n)}`
  const [erased, ...people] = [0, 1, 2, 3].map((n) => nameOf("person", n))
  return {
    people,
    erased: erased!,
    conversations: sizes.map(([project, before, after], n) => {
      const session = nameOf("session", n)
      const ofProject = project === otherProject ? [nameOf("stranger", 0)] : people
      const everyone = n === 0 ? [...people, erased!] : ofProject
      const calls = Calls.take(Calls.calls(session, everyone, random(1, 1_000_000)), before + after).map(
        (call, index) => ({
          ...call,
          // The person is not recorded again after the erasure.
          person: index >= before && call.person === erased ? people[0]! : call.person,
          ...(index % 4 === 0 ? { key: `key ${session} ${index}` } : {})
        })
      )
      return { project, session, calls: calls.slice(0, before), later: calls.slice(before) }
    })
  }
}

/** Records the calls of one project with a recorder that has nothing in its memory. */
const within = <A, E>(
  storage: Storage["Service"],
  project: ProjectId,
  body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>
) =>
  Effect.andThen(
    Calls.putFingerprint(storage, project),
    Effect.provide(Effect.flatMap(Recorder, body), Calls.recorderOver(storage))
  ).pipe(Effect.provideService(CurrentProject, project))

/** Two steps, one of which has what the call has. */
const stepsOf = ({ inputs, person, session }: StorageSuite.Calls.Call, index: number) => ({
  session: SessionId.make(session),
  person: PersonId.make(person),
  steps: [{ attributes: JsonText.unsafe(`{"inputs":${inputs}}`) }, {}].map((fields, n) =>
    Steps.stepOf(1 + 2 * index + n, fields)
  )
})

/** Returns the events that remain. */
export const fill = Effect.fnUntraced(function* ({ conversations, erased }: Plan) {
  const storage = yield* Storage
  const known: Array<Known> = []
  for (const each of [project, otherProject]) {
    yield* within(storage, each, (recorder) =>
      Effect.forEach(
        conversations.filter((conversation) => conversation.project === each),
        ({ calls }) =>
          Effect.forEach(calls, (call, index) =>
            Effect.gen(function* () {
              known.push({ id: yield* Calls.record(recorder, call), project: each, call })
              if (index % 4 === 0) yield* recorder.recordSteps(stepsOf(call, index))
            })
          ),
        { concurrency: "unbounded" }
      )
    )
  }
  yield* within(storage, project, (recorder) => recorder.erasePerson(PersonId.make(erased)))
  return known.filter(({ call }) => call.person !== erased)
})
