/** Records the calls that passed, as calls in process are: through the same front, with its limits. */
import type { Principal } from "@tachograph/core"
import { Clock, Effect, Exit, Fiber } from "effect"
import { randomUUID } from "node:crypto"
import { arch, platform, release } from "node:os"
import packageJson from "../../package.json" with { type: "json" }
import { LoopBudget } from "../events/LoopBudget.ts"
import type { Front } from "../front/Front.ts"
import { MaxBodyBytes } from "../front/RequestBody.ts"
import * as InProcess from "../mounts/InProcess.ts"
import { Backlog } from "./Backlog.ts"
import * as CallEvent from "./CallEvent.ts"
import * as Decompression from "./Decompression.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"
import type { ProxyMetrics } from "./ProxyMetrics.ts"
import { type CopyBudget, type Interruption, Tap } from "./Tap.ts"

/** A call that begins. */
export interface Begun {
  readonly rest: string
  readonly headers: ForwardedHeaders.RawHeaders
  readonly project: Principal["project"]
}

/** A call under way. */
export interface TappedCall {
  readonly tap: Tap
  /** To be called when nothing passes any more, with what ended it early. Records it in the background. */
  readonly end: (interruption: Interruption | undefined) => void
}

/** A call that is over and not recorded yet. */
interface WaitingCall extends Pick<CallEvent.PassedCall, "rest" | "interruption" | "occurredAt" | "durationMs"> {
  readonly tap: Tap
  readonly project: string
  /** On the clock of `performance.now()`. */
  readonly startedAtMs: number
  /** The same for each attempt, so that the call is recorded once. */
  readonly idempotencyKey: string
  attempts: number
  /** Made by the first attempt. */
  event: CallEvent.MadeEvent | undefined
}

/** How many calls are recorded at once: enough to share commits. More would fill the recorder's queue, and be refused. */
const maxConcurrent = 64

/** How long closing waits for calls that are not recorded. */
const closingGrace = "5 seconds"

/** Errors after which a call is tried until it is recorded, and those that may be the fault of the call itself. */
const transient: ReadonlySet<string> = new Set(["overloaded", "storage-unavailable"])
const doubtful: ReadonlySet<string> = new Set(["internal", "fingerprint-not-found"])
const doubtfulAttempts = 3

/** During an outage every call fails for the same reason: at most one line in this time (ms). */
const logIntervalMs = 1_000

const fingerprint = {
  language: "javascript",
  language_version: `node ${process.versions.node}`,
  system: `${platform()} ${release()} ${arch()}`,
  service_sdk_version: packageJson.version
}

/** What is written to the log instead of the call. */
const unrecorded = (reason: string, calls_not_logged: number) =>
  Effect.annotateLogs(Effect.logWarning("A model call passed the proxy and was not recorded"), {
    reason,
    calls_not_logged
  })

export const make = Effect.fnUntraced(function* (budget: CopyBudget, metrics: ProxyMetrics) {
  const maxBytes = yield* MaxBodyBytes
  const loop = new LoopBudget()
  const fingerprints = new Map<string, string>()
  const fibers = new Set<Fiber.Fiber<unknown>>()
  const run = Effect.runForkWith(yield* Effect.context<Front>())
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let suppressed = 0
  let isAway = false

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

  const decompress = (bytes: Buffer, headers: ForwardedHeaders.RawHeaders) => {
    const encoding = ForwardedHeaders.valueOf(headers, "content-encoding")
    if (encoding === undefined) return Effect.succeed(bytes)
    return Effect.promise(() => Decompression.decompress(bytes, encoding, maxBytes))
  }

  /** A word says why there is none; undefined, that it is no call. */
  const makeEvent = Effect.fnUntraced(function* (call: WaitingCall) {
    const { firstByteAtMs, requestBody, requestHeaders, responseBody, responseHeaders, status } = call.tap.copy
    // A parser of the host may have decompressed it.
    const inputs = (yield* decompress(requestBody, requestHeaders)) ?? requestBody
    const body = yield* decompress(responseBody, responseHeaders)
    if (body === undefined) return "undecodable"
    const contentType = ForwardedHeaders.valueOf(responseHeaders, "content-type") ?? ""
    const firstByteMs = firstByteAtMs && firstByteAtMs - call.startedAtMs
    const { durationMs, interruption, occurredAt, rest } = call
    const passed = { rest, interruption, occurredAt, durationMs, requestHeaders, inputs, body, contentType, status }
    const event = yield* loop.runSteps(CallEvent.make({ ...passed, firstByteMs }))
    if (event === undefined) return "undecodable"
    if (event === null) return undefined
    return call.tap.replace(event.bytes) ? event : "held-bytes"
  })

  /** Returns whether the call is settled: recorded, dropped, or no call. */
  const attempt = Effect.fnUntraced(function* (call: WaitingCall) {
    const { idempotencyKey, project } = call
    const event = call.event ?? (yield* makeEvent(call))
    if (event === undefined) return true
    if (typeof event === "string") return yield* Effect.as(drop(event), true)
    call.event = event
    const bytes = event.withFingerprint(yield* fingerprintIn(project))
    yield* InProcess.recordBytes(bytes, { project, idempotencyKey })
    metrics.countCall("recorded")
    isAway = false
    return true
  })

  const settledAfter = (type: string, { attempts, project }: WaitingCall) => {
    if (type === "fingerprint-not-found") fingerprints.delete(project)
    if (transient.has(type)) return Effect.as(type === "overloaded" ? Effect.void : sayAway, false)
    if (doubtful.has(type) && attempts < doubtfulAttempts) return Effect.succeed(false)
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
      if (isSettled) call.tap.release()
      done(isSettled)
    })
  })
  yield* metrics.showWaiting(() => backlog.size)

  yield* Effect.addFinalizer(() =>
    Effect.promise(() => backlog.close()).pipe(
      Effect.timeoutOption(closingGrace),
      Effect.andThen(
        Effect.suspend(() => {
          const left = backlog.stop()
          metrics.countCall("closing", left)
          return left === 0 ? Effect.void : unrecorded("closing", left - 1)
        })
      ),
      Effect.andThen(Effect.suspend(() => Fiber.interruptAll(fibers)))
    )
  )

  const begin = ({ headers, project, rest }: Begun): TappedCall => {
    const tap = new Tap(budget, maxBytes, headers)
    const occurredAt = new Date()
    const startedAtMs = performance.now()
    return {
      tap,
      end: (interruption) => {
        if (tap.unkept !== undefined) {
          tap.release()
          return void run(drop(tap.unkept))
        }
        const durationMs = performance.now() - startedAtMs
        const call = { tap, project, rest, interruption, occurredAt, startedAtMs, durationMs }
        backlog.add({ ...call, idempotencyKey: randomUUID(), attempts: 0, event: undefined })
      }
    }
  }

  return begin
})
