/** Records the calls that passed, as calls in process are: through the same front, with its limits. */
import type { Principal } from "@tachograph/core"
import { Clock, Effect, Fiber, Schedule, Semaphore } from "effect"
import { arch, platform, release } from "node:os"
import packageJson from "../../package.json" with { type: "json" }
import { LoopBudget } from "../events/LoopBudget.ts"
import type { Front } from "../front/Front.ts"
import { MaxBodyBytes } from "../front/RequestBody.ts"
import * as InProcess from "../mounts/InProcess.ts"
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

/** What is known of a call that is over, beside what passed. */
interface CallHead extends Pick<CallEvent.PassedCall, "rest" | "interruption" | "occurredAt" | "durationMs"> {
  /** On the clock of `performance.now()`. */
  readonly startedAtMs: number
}

/**
 * How many calls are recorded at once: enough to share commits. More would fill the recorder's queue, and be refused. The others
 * wait.
 */
const maxConcurrent = 64

/** How long closing waits for calls that are being recorded. */
const closingGrace = "5 seconds"

/**
 * When an event is sent again that was refused because the recorder has too much to do: nothing of it was stored, and its client
 * is not waiting. Half a minute in all.
 */
const retries = Schedule.exponential("500 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 6 }))

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
  const turns = yield* Semaphore.make(maxConcurrent)
  const fingerprints = new Map<string, string>()
  const fibers = new Set<Fiber.Fiber<unknown>>()
  const run = Effect.runForkWith(yield* Effect.context<Front>())
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let suppressed = 0

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

  const fingerprintIn = Effect.fnUntraced(function* (project: string) {
    const known = fingerprints.get(project)
    if (known !== undefined) return known
    const id = yield* InProcess.fingerprint(fingerprint, { project })
    fingerprints.set(project, id)
    return id
  })

  const send = Effect.fnUntraced(function* (project: string, eventWith: (fingerprintId: string) => Buffer) {
    const event = eventWith(yield* fingerprintIn(project))
    yield* InProcess.recordBytes(event, { project }).pipe(
      Effect.retry({ schedule: retries, while: ({ type }) => type === "overloaded" })
    )
  })

  const record = Effect.fnUntraced(function* (tap: Tap, project: string, call: CallHead) {
    const { firstByteAtMs, requestBody, requestHeaders, responseBody, responseHeaders, status } = tap.copy
    const decompress = (bytes: Buffer, headers: ForwardedHeaders.RawHeaders) => {
      const encoding = ForwardedHeaders.valueOf(headers, "content-encoding")
      if (encoding === undefined) return Effect.succeed(bytes)
      return Effect.promise(() => Decompression.decompress(bytes, encoding, maxBytes))
    }
    // A parser of the host may have decompressed it.
    const inputs = (yield* decompress(requestBody, requestHeaders)) ?? requestBody
    const body = yield* decompress(responseBody, responseHeaders)
    if (body === undefined) return yield* drop("undecodable")
    const contentType = ForwardedHeaders.valueOf(responseHeaders, "content-type") ?? ""
    const firstByteMs = firstByteAtMs && firstByteAtMs - call.startedAtMs
    const passed = { ...call, requestHeaders, inputs, body, contentType, status, firstByteMs }
    const eventWith = yield* loop.runSteps(CallEvent.make(passed))
    if (eventWith === undefined) return yield* drop("undecodable")
    if (eventWith === null) return
    yield* send(project, eventWith)
    metrics.countCall("recorded")
  })

  const fork = (effect: Effect.Effect<void, never, Front>) => {
    const fiber = run(effect)
    fibers.add(fiber)
    fiber.addObserver(() => fibers.delete(fiber))
  }

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => Fiber.awaitAll(fibers)).pipe(
      Effect.timeoutOption(closingGrace),
      Effect.andThen(Effect.suspend(() => (fibers.size === 0 ? Effect.void : unrecorded("closing", fibers.size - 1)))),
      Effect.andThen(Effect.suspend(() => Fiber.interruptAll(fibers)))
    )
  )

  const begin = (begun: Begun): TappedCall => {
    const tap = new Tap(budget, maxBytes, begun.headers)
    const occurredAt = new Date()
    const startedAtMs = performance.now()
    return {
      tap,
      end: (interruption) => {
        const durationMs = performance.now() - startedAtMs
        const { rest } = begun
        const call = { rest, interruption, occurredAt, startedAtMs, durationMs }
        const recorded = Effect.suspend(() =>
          tap.unkept === undefined ? turns.withPermits(1)(record(tap, begun.project, call)) : drop(tap.unkept)
        ).pipe(
          Effect.catch(({ type }) => drop(type)),
          Effect.catchCause((cause) =>
            Effect.andThen(Effect.logError("Recording a call failed", cause), drop("internal"))
          ),
          Effect.ensuring(Effect.sync(() => tap.release()))
        )
        // Later, so that what passes is not kept waiting.
        fork(Effect.andThen(Effect.yieldNow, recorded))
      }
    }
  }

  return begin
})
