/** OpenTelemetry: takes its posts, and finishes what waits. */
import {
  DeriveBeforeReads,
  DeriveInBackground,
  type Errors,
  pause,
  type ProjectId,
  Recorder,
  Storage,
  WaitingMetrics
} from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { randomUUID } from "node:crypto"
import { type Exchange, OtlpWaitMs, RedactPatterns } from "../Engine.ts"
import { loopBudget } from "../events/LoopBudget.ts"
import { Redactor } from "../events/Redaction.ts"
import * as SentEvent from "../events/SentEvent.ts"
import type * as Answer from "../response/Answer.ts"
import * as Answers from "./Answers.ts"
import * as LeftOut from "./LeftOut.ts"
import * as Receive from "./Receive.ts"
import type { Erased } from "./Parts.ts"
import * as RecordCalls from "./RecordCalls.ts"
import * as RecordSteps from "./RecordSteps.ts"
import * as Waiting from "./Waiting.ts"

type Operation = (exchange: Exchange) => Effect.Effect<Answer.Answer, unknown>

/** How often it looks for what is due. */
const interval = Duration.seconds(1)
const pauseAfterFailure = Duration.seconds(5)

const leaseName = "otlp"
/** A process that does not renew its lease for this long has stopped, and another one may take over. */
const leaseMs = 12_000
/** A lease that lasts for less than this is renewed: each time is a write. */
const renewBeforeMs = 6_000

/** The end does not wait longer than this to give the lease back, because it expires by itself. */
const releaseTimeout = Duration.seconds(1)

/** Groups that are finished before it is looked again. */
const groupsAtOnce = 100

export class Otlp extends Context.Service<
  Otlp,
  {
    readonly operations: Readonly<Record<"otlpTraces" | "otlpLogs" | "otlpMetrics", Operation>>
    /** Comes before an erasure: records what waits of a session or a person, and erases what turns out to be theirs later. */
    readonly finishAll: (
      project: ProjectId,
      erased: Erased
    ) => Effect.Effect<void, Errors.StorageUnavailable | Errors.Overloaded>
  }
>()("tachograph/router/Otlp") {
  static readonly layer: Layer.Layer<Otlp, never, Recorder | Storage> = Layer.effect(
    Otlp,
    Effect.suspend(() => make)
  )
}

/** An error of the reader quotes what it read, which is nobody's to log. */
const nameOfDefect = (defect: unknown): string => (defect instanceof Error ? defect.name : typeof defect)

/** What the patterns match is masked before it waits, as it is in events. */
const maskedBy = (patterns: string | null) => {
  if (patterns === null) return (_project: ProjectId, text: string) => Effect.succeed(text)
  const redactor = new Redactor(patterns)
  const [head, tail] = [`{"properties":{"output":`, "}}"]
  return (project: ProjectId, text: string) =>
    Effect.map(loopBudget.runSteps(redactor.masked(project, Buffer.from(head + text + tail))), (masked) =>
      Buffer.from(masked.text).toString().slice(head.length, -tail.length)
    )
}

const metrics: Operation = ({ headers }) => {
  const encoding = Answers.encodingOf(headers["content-type"])
  return encoding === undefined
    ? Effect.succeed(Answers.otherType)
    : Effect.as(LeftOut.count("metrics", "metrics", 1), Answers.taken(encoding, "metrics"))
}

const make = Effect.gen(function* () {
  const recorder = yield* Recorder
  const storage = yield* Storage
  const recordCalls = RecordCalls.make(recorder, storage, yield* SentEvent.make)
  const waitMs = yield* OtlpWaitMs
  const masked = maskedBy(yield* RedactPatterns)
  const recordSteps = RecordSteps.make(recorder, storage, masked)
  const waiting = Waiting.make(storage, recordCalls, recordSteps, {
    masked,
    waitMs
  })
  const { logs, traces } = Receive.make(recordCalls, recordSteps, waiting)
  const holder = randomUUID()
  let leaseUntilMs = 0
  const gauge = yield* WaitingMetrics.make(storage.countWaiting)

  /** Whether this process still has the lease, or has it now. */
  const renew = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now < leaseUntilMs - renewBeforeMs) return true
    const until = now + leaseMs
    const isHeld = yield* storage.takeLease(leaseName, holder, DateTime.makeUnsafe(until))
    leaseUntilMs = isHeld ? until : 0
    if (!isHeld) yield* gauge.clear
    return isHeld
  })

  /** Whether this process finishes what waits. While nothing does, none does. */
  const leads = Effect.gen(function* () {
    yield* gauge.count
    return gauge.value() > 0 && (yield* renew)
  })

  // Another process goes on at once.
  yield* Effect.addFinalizer(() =>
    leaseUntilMs === 0
      ? Effect.void
      : Effect.flatMap(DateTime.now, (now) => storage.takeLease(leaseName, holder, now)).pipe(
          Effect.timeout(releaseTimeout),
          Effect.ignore
        )
  )

  /** One group that makes the process fail keeps none of the others from being finished. */
  const finish = (project: ProjectId, group: string) =>
    Effect.catchDefect(waiting.finish(project, group), (defect) =>
      Effect.andThen(
        Effect.logError("What OpenTelemetry told cannot be finished", nameOfDefect(defect)),
        waiting.postpone(project, group)
      )
    )

  const finishDue = Effect.gen(function* () {
    yield* storage.endContexts((yield* Clock.currentTimeMillis) - waitMs)
    if (!(yield* leads)) return false
    const groups = yield* storage.dueGroups(yield* Clock.currentTimeMillis, groupsAtOnce)
    for (const { group, project } of groups) {
      if (!(yield* renew)) return false
      yield* finish(project, group)
    }
    return groups.length === groupsAtOnce
  })

  const pass = finishDue.pipe(
    Effect.map((isBehind) => (isBehind ? Duration.zero : interval)),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logWarning("Finishing what OpenTelemetry told failed and will be retried", Cause.squash(cause)),
        pauseAfterFailure
      )
    )
  )
  /** Where nothing runs between requests, the next post finishes what waited before it. */
  const whenAwake =
    (operation: Operation): Operation =>
    (exchange) =>
      Effect.andThen(pass, operation(exchange))
  const isFrozen = yield* DeriveBeforeReads
  if (yield* DeriveInBackground) yield* Effect.forkScoped(Effect.forever(Effect.flatMap(pass, pause)))

  return Otlp.of({
    operations: {
      otlpTraces: isFrozen ? whenAwake(traces) : traces,
      otlpLogs: isFrozen ? whenAwake(logs) : logs,
      otlpMetrics: metrics
    },
    finishAll: waiting.finishAll
  })
})
