/** Records the calls that passed, as calls in process are: through the same front, with its limits. */
import { Events, prefix } from "@tachograph/api"
import type { Principal } from "@tachograph/core"
import * as Retries from "@tachograph/formats/Retries"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { randomUUID } from "node:crypto"
import { arch, platform, release } from "node:os"
import packageJson from "../../package.json" with { type: "json" }
import * as BasePath from "../BasePath.ts"
import type { Interruption, PassedCall } from "../calls/PassedCall.ts"
import { Front } from "../front/Front.ts"
import { MaxBodyBytes } from "../front/RequestBody.ts"
import * as InProcess from "../mounts/InProcess.ts"
import { Backlog } from "./Backlog.ts"
import * as CallHeaders from "./CallHeaders.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"
import type { ProxyMetrics } from "./ProxyMetrics.ts"
import { Copies, type CopyBudget } from "./Copies.ts"

/** A call that begins. */
export interface Begun {
  readonly rest: string
  readonly headers: ForwardedHeaders.RawHeaders
  readonly project: Principal["project"]
}

/** A call under way. */
export interface CopiedCall {
  readonly copies: Copies
  /** To be called when nothing passes any more, with what ended it early. Records it in the background. */
  readonly end: (interruption: Interruption | undefined) => void
}

/** A call that is over and not recorded yet. */
interface WaitingCall extends Pick<PassedCall, "rest" | "interruption" | "durationMs"> {
  readonly copies: Copies
  readonly project: Principal["project"]
  readonly occurredAt: Date
  /** On the clock of `performance.now()`. */
  readonly startedAtMs: number
  /** The same for each attempt, so that the call is recorded once. */
  readonly idempotencyKey: string
  attempts: number
  /** What each attempt says of it. */
  passed?: Omit<PassedCall, "fingerprintId">
}

/** How many calls are recorded at once: enough to share commits. More would fill the recorder's queue, and be refused. */
const maxConcurrent = 64

/** How long closing waits for calls that are not recorded. */
const closingGrace = "5 seconds"

/** Errors that may be the fault of the call itself. */
const doubtful: ReadonlySet<string> = new Set(["internal", "fingerprint-not-found"])

/** During an outage every call fails for the same reason: at most one line in this time (ms). */
const logIntervalMs = 1_000

const fingerprint = {
  language: "javascript",
  language_version: `node ${process.versions.node}`,
  system: `${platform()} ${release()} ${arch()}`,
  service_sdk_version: packageJson.version
}

const noBody = new Uint8Array()

/** What is written to the log instead of the call. `last_error` is why the recorder refused the last one that it did. */
const unrecorded = (reason: string, calls_not_logged: number, last_error?: string) =>
  Effect.annotateLogs(Effect.logWarning("A model call passed the proxy and was not recorded"), {
    reason,
    calls_not_logged,
    ...(last_error === undefined ? {} : { last_error })
  })

export const make = Effect.fnUntraced(function* (budget: CopyBudget, metrics: ProxyMetrics) {
  const maxBytes = yield* MaxBodyBytes
  const front = yield* Front
  const eventsUrl = `${yield* BasePath.BasePath}${prefix}/events`
  const fingerprints = new Map<string, string>()
  const fibers = new Set<Fiber.Fiber<unknown>>()
  const run = Effect.runForkWith(yield* Effect.context<Front>())
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let suppressed = 0
  let isAway = false
  let lastError: string | undefined

  const drop = (reason: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      metrics.countCall(reason)
      if (now >= loggedAtMs && now - loggedAtMs < logIntervalMs) {
        suppressed++
        return Effect.void
      }
      loggedAtMs = now
      const calls = suppressed
      suppressed = 0
      return unrecorded(reason, calls)
    })

  /** Says once in an outage that calls wait. */
  const sayAway = Effect.suspend(() => {
    if (isAway) return Effect.void
    isAway = true
    return Effect.logWarning("The storage is away: model calls wait until they can be recorded")
  })

  const fingerprintIn = Effect.fnUntraced(function* (project: string) {
    const known = fingerprints.get(project)
    if (known !== undefined) return known
    const id = yield* InProcess.fingerprint(fingerprint, { project })
    fingerprints.set(project, id)
    return id
  })

  /** Without the copies of its bodies, which are made for each attempt. */
  const passedOf = (call: WaitingCall): Omit<PassedCall, "fingerprintId"> => {
    const { copies, durationMs, interruption, occurredAt, rest, startedAtMs } = call
    const { firstByteAtMs, isRequestWhole, requestHeaders, responseHeaders, status } = copies.heard
    return {
      rest,
      beta: CallHeaders.betaOf(requestHeaders),
      grouping: CallHeaders.groupingOf(requestHeaders),
      ...CallHeaders.secretsOf(requestHeaders, rest),
      requestBytes: copies.requestBytes,
      isRequestWhole,
      requestEncoding: ForwardedHeaders.listOf(requestHeaders, "content-encoding"),
      responseEncoding: ForwardedHeaders.listOf(responseHeaders, "content-encoding"),
      contentType: ForwardedHeaders.valueOf(responseHeaders, "content-type") ?? "",
      status,
      interruption,
      occurredAt: occurredAt.toISOString(),
      durationMs,
      firstByteMs: firstByteAtMs && firstByteAtMs - startedAtMs
    }
  }

  /** Hands the call to the front. Fails where the answer is an error. */
  const record = (call: WaitingCall, fingerprintId: string) =>
    Effect.suspend(() => {
      const { copies, idempotencyKey, project } = call
      const passed = (call.passed ??= passedOf(call))
      const handled = front.handle({
        method: "POST",
        url: eventsUrl,
        headers: { [Events.idempotencyKeyHeader]: idempotencyKey },
        source: {},
        body: noBody,
        principal: { project, scopes: ["record"] },
        passed: { call: { ...passed, fingerprintId }, copies: copies.joined() }
      })
      return Effect.isEffect(handled) ? handled : Effect.succeed(handled)
    })

  /** Returns whether the call is settled: recorded, dropped, or no call. */
  const attempt = Effect.fnUntraced(function* (call: WaitingCall) {
    const { refusal, status } = yield* record(call, yield* fingerprintIn(call.project))
    if (refusal !== undefined) return yield* settledAfter(refusal.type, call)
    isAway = false
    lastError = undefined
    if (status === 200) metrics.countCall("recorded")
    return true
  })

  const settledAfter = (type: string, { attempts, project }: WaitingCall) => {
    lastError = type
    if (type === "fingerprint-not-found") fingerprints.delete(project)
    if (Retries.isTransient(type)) return Effect.as(type === "overloaded" ? Effect.void : sayAway, false)
    if (doubtful.has(type) && attempts < Retries.attemptsOfInternalErrors) return Effect.succeed(false)
    return Effect.as(drop(type), true)
  }

  const backlog = new Backlog<WaitingCall>(maxConcurrent, (call, done) => {
    const settled = attempt(call).pipe(
      Effect.catch(({ type }) => settledAfter(type, call)),
      Effect.catchCause((cause) =>
        Effect.as(Effect.andThen(Effect.logError("Recording a call failed", cause), drop("internal")), true)
      )
    )
    const fiber = run(settled)
    fibers.add(fiber)
    fiber.addObserver((exit) => {
      fibers.delete(fiber)
      const isSettled = Exit.isFailure(exit) || exit.value
      if (isSettled) call.copies.release()
      done(isSettled)
    })
  })
  yield* metrics.showWaiting(() => backlog.size)

  yield* Effect.addFinalizer(() =>
    Effect.interruptible(Effect.promise(() => backlog.close())).pipe(
      Effect.timeoutOption(closingGrace),
      Effect.andThen(
        Effect.suspend(() => {
          const left = backlog.stop()
          metrics.countCall("closing", left)
          return left === 0 ? Effect.void : unrecorded("closing", left - 1, lastError)
        })
      ),
      // A storage that hangs must not be waited for.
      Effect.andThen(Effect.sync(() => fibers.forEach((fiber) => fiber.interruptUnsafe())))
    )
  )

  const begin = ({ headers, project, rest }: Begun): CopiedCall => {
    const copies = new Copies(budget, maxBytes, headers, rest)
    const occurredAt = new Date()
    const startedAtMs = performance.now()
    return {
      copies,
      end: (interruption) => {
        copies.end()
        if (copies.unkept !== undefined) {
          copies.release()
          return void run(drop(copies.unkept))
        }
        const durationMs = performance.now() - startedAtMs
        const call = { copies, project, rest, interruption, occurredAt, startedAtMs, durationMs }
        backlog.add({ ...call, idempotencyKey: randomUUID(), attempts: 0 })
      }
    }
  }

  return {
    begin,
    /** Counts a call that passes and is not recorded, and says why. */
    drop: (reason: string): void => void run(drop(reason))
  }
})
