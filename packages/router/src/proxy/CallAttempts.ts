/** Attempts to record a call that passed: through the front, with its limits, as calls in process are. */
import { Events, prefix } from "@tachograph/api"
import * as Retries from "@tachograph/capture/Retries"
import type { Principal } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { arch, platform, release } from "node:os"
import packageJson from "../../package.json" with { type: "json" }
import * as BasePath from "../BasePath.ts"
import type { PassedCall } from "../calls/PassedCall.ts"
import { Front } from "../front/Front.ts"
import * as InProcess from "../mounts/InProcess.ts"
import type { Copies } from "./Copies.ts"
import { type ProxyMetrics, reasonOf, type Unrecorded } from "./ProxyMetrics.ts"

/** A call that is over and not recorded yet. */
export interface WaitingCall {
  readonly copies: Copies
  readonly upstream: string
  readonly project: Principal["project"]
  /** Without the copies of its bodies, which are made for each attempt. */
  readonly passed: Omit<PassedCall, "fingerprintId">
  /** The same for each attempt, so that the call is recorded once. */
  readonly idempotencyKey: string
  readonly bytes: number
  attempts: number
  /** Since the engine's thread has died in an attempt, maybe because of another call. */
  isAlone: boolean
}

/** Errors that may be the fault of the call itself. */
const doubtful: ReadonlySet<string> = new Set(["internal", "fingerprint-not-found"])

const fingerprint = {
  language: "javascript",
  language_version: `node ${process.versions.node}`,
  system: `${platform()} ${release()} ${arch()}`,
  service_sdk_version: packageJson.version
}

const noBody = new Uint8Array()

/** What becomes of a call that is not recorded. */
export interface Outcomes {
  readonly drop: (call: WaitingCall, reason: Unrecorded) => void
  readonly countUnrecognised: (call: WaitingCall) => void
}

export const make = Effect.fnUntraced(function* (metrics: ProxyMetrics, { countUnrecognised, drop }: Outcomes) {
  const front = yield* Front
  const eventsUrl = `${yield* BasePath.BasePath}${prefix}/events`
  const fingerprints = new Map<string, string>()
  let isAway = false
  let lastError: string | undefined

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

  /** Hands the call to the front. Fails where the answer is an error. */
  const record = (call: WaitingCall, fingerprintId: string) =>
    Effect.suspend(() => {
      const { copies, idempotencyKey, passed, project } = call
      const handled = front.handle({
        method: "POST",
        url: eventsUrl,
        headers: { [Events.idempotencyKeyHeader]: idempotencyKey },
        source: {},
        body: noBody,
        principal: { project, scopes: ["record"], id: "proxy" },
        passed: { call: { ...passed, fingerprintId }, copies: copies.joined() }
      })
      return Effect.isEffect(handled) ? handled : Effect.succeed(handled)
    })

  const attemptOnce = Effect.fnUntraced(function* (call: WaitingCall) {
    const { refusal, status } = yield* record(call, yield* fingerprintIn(call.project))
    if (refusal?.isOfDeath === true) {
      // With one more death within a minute the thread would stay down.
      if (call.isAlone) {
        drop(call, "internal")
        return true
      }
      call.isAlone = true
    }
    if (refusal !== undefined) return yield* settledAfter(refusal.type, call)
    isAway = false
    lastError = undefined
    if (status === 200) metrics.countCall("recorded")
    return true
  })

  const settledAfter = (type: string, call: WaitingCall) => {
    const { attempts, project } = call
    if (type === "unrecognised") {
      countUnrecognised(call)
      return Effect.succeed(true)
    }
    // Another process has recorded the end of this call.
    if (type === Retries.keyReused) return Effect.succeed(true)
    lastError = type
    if (type === "fingerprint-not-found") fingerprints.delete(project)
    if (Retries.isTransient(type)) return Effect.as(type === "overloaded" ? Effect.void : sayAway, false)
    if (doubtful.has(type) && attempts < Retries.attemptsOfInternalErrors) return Effect.succeed(false)
    drop(call, reasonOf(type))
    return Effect.succeed(true)
  }

  return {
    /** Returns whether the call is settled: recorded, dropped, or no call. */
    attempt: (call: WaitingCall) =>
      attemptOnce(call).pipe(
        Effect.catch(({ type }) => settledAfter(type, call)),
        Effect.catchCause((cause) =>
          Effect.map(Effect.logError("Recording a call failed", cause), () => {
            drop(call, "internal")
            return true
          })
        )
      ),
    /** Why the recorder refused the last call that it did; undefined since it recorded one. */
    get lastError() {
      return lastError
    }
  }
})
