/**
 * Processes that record into the same sessions while others erase those sessions and their people: the work of each process,
 * and the check of the final state. The caller starts the processes.
 */
import {
  CurrentProject,
  type Errors,
  type EventId,
  JsonText,
  PersonId,
  Recorder,
  SessionId,
  SessionCacheBytes,
  Storage
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { randomUUID } from "node:crypto"
import * as Calls from "./Calls.ts"
import { stepOf } from "./Steps.ts"
import * as StoreCheck from "./StoreCheck.ts"

/** One line of output of a process. Times are microseconds of the machine's monotonic clock. */
type Line =
  /** An event was acknowledged. The call lasted from `from` to `to`. */
  | {
      readonly kind: "recorded"
      readonly id: EventId
      readonly session: string
      readonly person: string
      readonly digest: string
      readonly from: number
      readonly to: number
    }
  /** An erasure succeeded. */
  | {
      readonly kind: "erased"
      readonly session?: string
      readonly person?: string
      readonly from: number
      readonly to: number
    }
  /** An acknowledged event was read and not found. */
  | { readonly kind: "missed"; readonly id: EventId; readonly at: number }
  /** An event was read with another payload, or a call failed that must succeed. */
  | { readonly kind: "failed"; readonly what: string }

export type Role = "record" | "erase"

export interface Options {
  readonly role: Role
  readonly seed: number
  /** Duration of the work, in ms. Extended until each fiber has done its minimum. */
  readonly duration: number
}

const sessions = ["red", "green", "blue"]
const people = ["alice", "bob", "carol", "dave"]

/** Recording fibers per process; each has a conversation in every session. */
const recorders = 3

/** Erasing fibers per process. */
const erasers = 2

/** Minimum work of each fiber, on a slow machine too. */
const minRecorded = 10
const minErased = 1

const now = () => Number(process.hrtime.bigint() / 1000n)

const say = (line: Line) => Effect.sync(() => void process.stdout.write(`${JSON.stringify(line)}\n`))

const failed = (what: string) => (error: unknown) => say({ kind: "failed", what: `${what}: ${String(error)}` })

/** A call with one of 40 documents, which become shared pieces that are often released. */
const withDocument = (session: string, next: (below: number) => number): Calls.Call => {
  const document = Calls.noise(1_000 + next(40), 4_500)
  return {
    session,
    person: people[next(people.length)]!,
    inputs: `{"messages":[{"role":"user","content":"${document}"},{"role":"user","content":"${next(1_000)}"}]}`,
    output: "{}"
  }
}

/** A step of the call's session, unless that was erased meanwhile. */
const recordStep = (recorder: Recorder["Service"], { inputs, person, session }: Calls.Call, n: number) => {
  const steps = [stepOf(1 + n, { attributes: JsonText.unsafe(`{"inputs":${inputs}}`) })]
  return recorder.recordSteps({ session: SessionId.make(session), person: PersonId.make(person), steps }).pipe(
    Effect.retry({ while: ({ _tag }) => _tag === "overloaded", schedule: Schedule.spaced("100 millis") }),
    Effect.catchTag("session-not-found", () => Effect.void)
  )
}

const recordUntil = Effect.fnUntraced(function* (recorder: Recorder["Service"], seed: number, end: number) {
  const next = Calls.random(seed)
  const conversations = sessions.map((session, index) => Calls.calls(session, people, seed * 10 + index))
  const recorded: Array<{ readonly id: EventId; readonly call: Calls.Call }> = []
  while (now() < end || recorded.length < minRecorded) {
    const at = next(sessions.length)
    const written = next(3) === 0 ? withDocument(sessions[at]!, next) : conversations[at]!.next().value
    // Some calls have an idempotency key, which is erased with the event.
    const call = next(3) === 0 ? { ...written, key: randomUUID() } : written
    const { inputs, output, person, session } = call
    const digest = StoreCheck.digestOf(Buffer.from(inputs), Buffer.from(output))
    const from = now()
    const id = yield* Calls.record(recorder, call)
    yield* say({ kind: "recorded", id, session, person, digest, from, to: now() })
    recorded.push({ id, call })
    if (next(3) === 0) yield* recordStep(recorder, call, next(2_000))
    // Sometimes reads one of the last hundred events.
    if (next(4) > 0) continue
    const earlier = recorded[Math.max(0, recorded.length - 1 - next(100))]!
    const isSame = yield* Effect.catchTag(Calls.isAsSent(recorder, earlier.id, earlier.call), "event-not-found", () =>
      Effect.as(say({ kind: "missed", id: earlier.id, at: now() }), true)
    )
    if (!isSame) yield* say({ kind: "failed", what: `event ${earlier.id} has another payload` })
  }
})

const eraseUntil = Effect.fnUntraced(function* (recorder: Recorder["Service"], seed: number, end: number) {
  const next = Calls.random(seed)
  let erased = 0
  for (let pause = next(200); ; pause = next(12) === 0 ? next(6_000) : next(300)) {
    // Some pauses are long, so that sessions grow until they are swept in several steps.
    yield* Effect.sleep(erased < minErased ? Math.min(pause, 300) : Math.min(pause, Math.max(0, end - now()) / 1000))
    if (now() >= end && erased >= minErased) return
    const session = next(8) === 0 ? sessions[next(sessions.length)]! : undefined
    const person = session === undefined ? people[next(people.length)]! : undefined
    const from = now()
    const erase: Effect.Effect<unknown, { readonly _tag: string }> =
      person === undefined
        ? recorder.eraseSession(SessionId.make(session!))
        : recorder.erasePerson(PersonId.make(person))
    const isErased = yield* Effect.catchIf(
      Effect.as(erase, true),
      ({ _tag }) => _tag === "session-not-found" || _tag === "person-not-found",
      () => Effect.succeed(false)
    )
    if (!isErased) continue
    erased++
    yield* say({ kind: "erased", ...(person === undefined ? { session: session! } : { person }), from, to: now() })
  }
})

/** The main program of a process. Prints the lines that `judge` reads. */
export const work = ({ duration, role, seed }: Options) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    yield* Calls.putFingerprint(storage, yield* CurrentProject)
    const end = now() + 1000 * duration
    const recorder = yield* Recorder
    const each = role === "record" ? recordUntil : eraseUntil
    const fibers = role === "record" ? recorders : erasers
    yield* Effect.forEach(
      Array.from({ length: fibers }, (_, n) => 100 * seed + n),
      (seed) => Effect.catchCause(each(recorder, seed, end), failed(role)),
      { concurrency: "unbounded", discard: true }
    )
  }).pipe(
    Effect.provide(
      Recorder.layer.pipe(
        // Every other process has a small session cache.
        Layer.provide(seed % 2 === 0 ? Layer.empty : Layer.succeed(SessionCacheBytes, 300_000))
      )
    )
  )

export interface Verdict {
  readonly wrong: ReadonlyArray<string>
  readonly recorded: number
  readonly erasures: number
  readonly missed: number
  /** Events in the final state. */
  readonly left: number
}

/** Checks a storage against the output of the processes, after all of them have ended. */
export const judge: (
  storage: Storage["Service"],
  printed: string
) => Effect.Effect<Verdict, Errors.StorageUnavailable> = Effect.fnUntraced(function* (storage, printed) {
  // Other lines are those of the log.
  const lines = printed.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []))
  const of = <Kind extends Line["kind"]>(kind: Kind) =>
    lines.filter((line): line is Extract<Line, { readonly kind: Kind }> => line.kind === kind)
  const recorded = new Map(of("recorded").map((line) => [line.id, line]))
  const erasures = of("erased")
  const { events, problems } = yield* StoreCheck.look(storage, yield* CurrentProject)
  const wrong = [...problems, ...of("failed").map(({ what }) => what)]

  /** Erasures of the event's session or person that ended after its recording began. */
  const erasuresOf = (event: Extract<Line, { readonly kind: "recorded" }>) =>
    erasures.filter(
      ({ person, session, to }) => to >= event.from && (session === event.session || person === event.person)
    )
  for (const [id, event] of recorded) {
    const own = erasuresOf(event)
    const digest = events.get(id)
    if (digest === undefined && own.length === 0) wrong.push(`event ${id} was acknowledged, not erased, and is missing`)
    if (digest !== undefined && digest !== event.digest) wrong.push(`event ${id} has another payload`)
    if (digest !== undefined && own.some(({ from }) => from > event.to))
      wrong.push(`event ${id} was erased, but still exists`)
  }
  for (const id of events.keys()) if (!recorded.has(id)) wrong.push(`event ${id} was not acknowledged`)
  for (const { at, id } of of("missed")) {
    if (!erasuresOf(recorded.get(id)!).some(({ from }) => from <= at))
      wrong.push(`event ${id} was not found at ${at}, before any erasure`)
  }
  return { wrong, recorded: recorded.size, erasures: erasures.length, left: events.size, missed: of("missed").length }
})
