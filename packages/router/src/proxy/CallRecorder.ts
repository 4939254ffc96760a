/** Records the calls that passed, as calls in process are: through the same front, with its limits. */
import type { Kind } from "@tachograph/capture/Kinds"
import { PathCounts } from "@tachograph/capture/Unrecognised"
import { InFlightSet, type Principal } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { randomUUID } from "node:crypto"
import type { Interruption } from "../calls/PassedCall.ts"
import type { Front } from "../front/Front.ts"
import { MaxBodyBytes } from "../front/RequestBody.ts"
import { Backlog } from "./Backlog.ts"
import { BurstLog } from "./BurstLog.ts"
import * as CallAttempts from "./CallAttempts.ts"
import * as CallHeaders from "./CallHeaders.ts"
import { Copies, type CopyBudget, type Heard } from "./Copies.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"
import type { ProxyMetrics, Unrecorded } from "./ProxyMetrics.ts"
import { UnknownHeaders } from "./UnknownHeaders.ts"

/** A call that begins. */
export interface Begun {
  readonly kind: Kind
  readonly method: string
  /** The name of its upstream. */
  readonly upstream: string
  readonly rest: string
  readonly headers: ForwardedHeaders.RawHeaders
  readonly project: Principal["project"]
}

/** A call under way. */
export interface CopiedCall {
  readonly copies: Copies
  /** To be called when nothing passes any more, with what ended it early, and the code of that. Records it in the background. */
  readonly end: (interruption: Interruption | undefined, failureCode: string | undefined) => void
}

/** How many calls are recorded at once: enough to share commits. More would fill the recorder's queue, and be refused. */
const maxConcurrent = 64

/** How many bytes wait for no other calls, at most an eighth of the budget: what waits takes from what those under way may hold. */
const gatherBytes = 1024 * 1024

/** How long closing waits for calls that are not recorded. */
const closingGrace = "5 seconds"

const ofHeaders = (
  { requestHeaders, responseHeaders }: Pick<Heard, "requestHeaders" | "responseHeaders">,
  rest: string
) => ({
  beta: CallHeaders.betaOf(requestHeaders),
  ...CallHeaders.groupingOf(requestHeaders),
  ...CallHeaders.secretsOf(requestHeaders, rest),
  requestEncoding: ForwardedHeaders.listOf(requestHeaders, "content-encoding"),
  responseEncoding: ForwardedHeaders.listOf(responseHeaders, "content-encoding"),
  contentType: ForwardedHeaders.valueOf(responseHeaders, "content-type") ?? ""
})

/** What is written to the log instead of the call. */
const unrecorded = (reason: Unrecorded, calls_not_logged: number, more: Readonly<Record<string, unknown>> = {}) =>
  Effect.annotateLogs(Effect.logWarning("A model call passed the proxy and was not recorded"), {
    reason,
    calls_not_logged,
    ...more
  })

/** Counts by path what passes and is not recorded. The log names each path once. */
const counting = (count: (path: string) => void, warn: (upstream: string, path: string) => void) => {
  const paths = new PathCounts()
  return (rest: string, upstream: string): void => {
    const { isFirst, path } = paths.add(rest)
    count(path)
    if (isFirst) warn(upstream, path)
  }
}

/** What is recorded of a call that has ended. Throws where its headers cannot be read. */
const passedOf = (
  { kind, method, rest }: Begun,
  copies: Copies,
  { firstByteAtMs, status, ...heard }: Heard,
  startedAtMs: number
) => ({
  kind,
  method,
  ...ofHeaders(heard, rest),
  rest,
  requestBytes: copies.requestBytes,
  isRequestWhole: heard.isRequestWhole,
  status,
  durationMs: performance.now() - startedAtMs,
  firstByteMs: firstByteAtMs && firstByteAtMs - startedAtMs
})

export const make = Effect.fnUntraced(function* (budget: CopyBudget, metrics: ProxyMetrics) {
  const maxBytes = yield* MaxBodyBytes
  const run = Effect.runForkWith(yield* Effect.context<Front>())
  const warn = (message: string, fields: Readonly<Record<string, unknown>>) =>
    void run(Effect.annotateLogs(Effect.logWarning(message), fields))
  const log = new BurstLog<Unrecorded>((reason, others) => void run(unrecorded(reason, others)))
  const unknownHeaders = new UnknownHeaders()

  const drop = (reason: Unrecorded): void => {
    metrics.countCall(reason)
    log.say(reason)
  }

  const dropOf = (kind: Kind, reason: Unrecorded): void => {
    // Any other may be no call.
    if (kind === "call") drop(reason)
  }

  const countUnrecognised = counting(metrics.countUnrecognised, (upstream, path) =>
    warn("A model call is in no format that is recorded: calls of this path pass, and are only counted", {
      upstream,
      path
    })
  )
  const countSocket = counting(metrics.countSocket, (upstream, path) =>
    warn("A WebSocket passes that is not recorded: those of this path pass, and are only counted", { upstream, path })
  )

  const backlog = yield* waitingCalls(budget, metrics, log, {
    drop: ({ passed }, reason) => dropOf(passed.kind, reason),
    countUnrecognised: ({ passed, upstream }) => countUnrecognised(passed.rest, upstream)
  })

  const begin = (begun: Begun): CopiedCall => {
    const { headers, kind, project, rest, upstream } = begun
    for (const header of unknownHeaders.findNew(headers)) {
      warn("A model call has a header of Tachograph that the proxy does not know, and leaves out", { header })
    }
    const copies = new Copies(budget, maxBytes, headers, rest, kind === "unknown")
    const occurredAt = new Date().toISOString()
    const startedAtMs = performance.now()
    const dropped = (reason: Unrecorded) => {
      copies.release()
      dropOf(kind, reason)
    }
    return {
      copies,
      end: (interruption, failureCode) => {
        const heard = copies.end()
        if (copies.unkept !== undefined) return dropped(copies.unkept)
        let passed: CallAttempts.WaitingCall["passed"]
        try {
          passed = { ...passedOf(begun, copies, heard, startedAtMs), occurredAt, interruption, failureCode }
        } catch {
          // What ends the call is the host's server, which an error must not reach.
          return dropped("internal")
        }
        const waiting = { copies, project, upstream, passed, bytes: copies.bytes, attempts: 0, isAlone: false }
        if (!backlog.add({ ...waiting, idempotencyKey: randomUUID() })) dropped("closing")
      }
    }
  }

  return {
    begin,
    /** Counts a WebSocket that carries no calls which are recorded. */
    countSocket,
    /** Counts a call that passes and is not recorded, and says why. */
    drop
  }
})

export type CallRecorder = Effect.Success<ReturnType<typeof make>>

/** Calls wait here to be recorded, some at a time, until the scope is closed. */
const waitingCalls = Effect.fnUntraced(function* (
  budget: CopyBudget,
  metrics: ProxyMetrics,
  log: BurstLog<Unrecorded>,
  outcomes: CallAttempts.Outcomes
) {
  const fibers = new InFlightSet<Fiber.Fiber<unknown>>()
  const run = Effect.runForkWith(yield* Effect.context<Front>())
  const attempts = yield* CallAttempts.make(metrics, outcomes)
  const backlog = new Backlog<CallAttempts.WaitingCall>(
    maxConcurrent,
    Math.min(gatherBytes, budget.maxBytes / 8),
    (call, done) => {
      const fiber = run(attempts.attempt(call))
      const remove = fibers.add(fiber)
      fiber.addObserver((exit) => {
        remove()
        const isSettled = Exit.isFailure(exit) || exit.value
        if (isSettled) call.copies.release()
        done(isSettled)
      })
    }
  )
  yield* metrics.showWaiting(() => backlog.size)
  const sayLeft = Effect.suspend(() => {
    const { left, underWay } = backlog.stop()
    metrics.countCall("closing", left)
    log.end()
    if (left === 0) return Effect.void
    return unrecorded("closing", left - 1, {
      // Why the recorder refused the last one that it did.
      ...(attempts.lastError === undefined ? {} : { last_error: attempts.lastError }),
      // Their commit may end well without an answer.
      ...(underWay === 0 ? {} : { perhaps_recorded: underWay })
    })
  })
  yield* Effect.addFinalizer(() =>
    Effect.interruptible(Effect.promise(() => backlog.close())).pipe(
      Effect.timeoutOption(closingGrace),
      Effect.andThen(sayLeft),
      // A storage that hangs must not be waited for.
      Effect.andThen(
        Effect.sync(() => {
          for (const fiber of fibers.values()) fiber.interruptUnsafe()
        })
      )
    )
  )
  return backlog
})
