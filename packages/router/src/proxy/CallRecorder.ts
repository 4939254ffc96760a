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

export const make = Effect.fnUntraced(function* (budget: CopyBudget, metrics: ProxyMetrics) {
  const maxBytes = yield* MaxBodyBytes
  const fibers = new InFlightSet<Fiber.Fiber<unknown>>()
  const run = Effect.runForkWith(yield* Effect.context<Front>())
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

  /** Counts by path what passes and is not recorded. The log names each path once. */
  const counting = (count: (path: string) => void, message: string) => {
    const paths = new PathCounts()
    return (rest: string, upstream: string): void => {
      const { isFirst, path } = paths.add(rest)
      count(path)
      if (isFirst) run(Effect.annotateLogs(Effect.logWarning(message), { upstream, path }))
    }
  }
  const countUnrecognised = counting(
    metrics.countUnrecognised,
    "A model call is in no format that is recorded: calls of this path pass, and are only counted"
  )
  const countSocket = counting(
    metrics.countSocket,
    "A WebSocket passes that is not recorded: those of this path pass, and are only counted"
  )

  const attempts = yield* CallAttempts.make(metrics, {
    drop: ({ passed }, reason) => dropOf(passed.kind, reason),
    countUnrecognised: ({ passed, upstream }) => countUnrecognised(passed.rest, upstream)
  })
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

  yield* Effect.addFinalizer(() =>
    Effect.interruptible(Effect.promise(() => backlog.close())).pipe(
      Effect.timeoutOption(closingGrace),
      Effect.andThen(
        Effect.suspend(() => {
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
      ),
      // A storage that hangs must not be waited for.
      Effect.andThen(
        Effect.sync(() => {
          for (const fiber of fibers.values()) fiber.interruptUnsafe()
        })
      )
    )
  )

  const sayUnknown = (headers: ForwardedHeaders.RawHeaders): void => {
    for (const header of unknownHeaders.findNew(headers)) {
      const message = "A model call has a header of Tachograph that the proxy does not know, and leaves out"
      run(Effect.annotateLogs(Effect.logWarning(message), { header }))
    }
  }

  const begin = ({ headers, kind, method, project, rest, upstream }: Begun): CopiedCall => {
    sayUnknown(headers)
    const copies = new Copies(budget, maxBytes, headers, rest, kind === "unknown")
    const occurredAt = new Date()
    const startedAtMs = performance.now()
    return {
      copies,
      end: (interruption, failureCode) => {
        const durationMs = performance.now() - startedAtMs
        const { firstByteAtMs, status, ...heard } = copies.end()
        if (copies.unkept !== undefined) {
          copies.release()
          return dropOf(kind, copies.unkept)
        }
        let said: ReturnType<typeof ofHeaders>
        try {
          said = ofHeaders(heard, rest)
        } catch {
          // What ends the call is the host's server, which an error must not reach.
          copies.release()
          return dropOf(kind, "internal")
        }
        const passed = {
          kind,
          method,
          ...said,
          rest,
          requestBytes: copies.requestBytes,
          isRequestWhole: heard.isRequestWhole,
          status,
          interruption,
          failureCode,
          occurredAt: occurredAt.toISOString(),
          durationMs,
          firstByteMs: firstByteAtMs && firstByteAtMs - startedAtMs
        }
        const { bytes } = copies
        const waiting = { copies, project, upstream, passed, bytes, attempts: 0, isAlone: false }
        if (backlog.add({ ...waiting, idempotencyKey: randomUUID() })) return
        copies.release()
        dropOf(kind, "closing")
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
