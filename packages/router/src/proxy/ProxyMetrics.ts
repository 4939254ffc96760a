/** The metrics of the proxy. */
import { otherPaths } from "@tachograph/capture/Unrecognised"
import { ObservableMetrics } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"

const requests = Metric.counter("tachograph_proxy_requests_total", {
  description: "Requests to the proxy, by what became of them",
  incremental: true
})

const calls = Metric.counter("tachograph_proxy_calls_total", {
  description: "Model calls that passed the proxy, by whether they were recorded or why not",
  incremental: true
})

const unrecognised = Metric.counter("tachograph_proxy_unrecognised_calls_total", {
  description:
    "Requests by POST that passed, named a model, were answered with what it used, and are in no format that is recorded",
  incremental: true
})

const sockets = Metric.counter("tachograph_proxy_unrecorded_websockets_total", {
  description: "WebSockets that passed the proxy and carry no calls that are recorded",
  incremental: true
})

const held = Metric.gauge("tachograph_proxy_held_bytes", {
  description: "Bytes of calls that the proxy holds for the recorder"
})

const waiting = Metric.gauge("tachograph_proxy_waiting_calls", {
  description: "Model calls that passed the proxy and are not recorded yet"
})

/** `passed` counts what an upstream answered, whatever it answered. */
const outcomes = ["passed", "refused", "unreachable", "timeout", "cut"] as const
type Outcome = (typeof outcomes)[number]

/** Alerts see no increase in a series that did not exist before. */
const alerted = [
  "held-bytes",
  "payload-too-large",
  "undecodable",
  "too-many-credentials",
  "aborted",
  "internal",
  "closing"
] as const

/** What hardly happens: other ways to break off a request, and errors that the recorder has for calls of others. */
const rare = [
  "connection_error",
  "timeout",
  "exit",
  "fingerprint-not-found",
  "session-id-empty",
  "validation-error"
] as const

/** Why a call is not recorded. */
export type Unrecorded = (typeof alerted)[number] | (typeof rare)[number]

const known: ReadonlySet<string> = new Set<Unrecorded>([...alerted, ...rare])

/** What the type of an error of the recorder counts as: one that it should have for no call is a fault of this program. */
export const reasonOf = (type: string): Unrecorded => (known.has(type) ? (type as Unrecorded) : "internal")

export interface ProxyMetrics {
  /** Shows how many calls are not recorded yet, until the scope is closed. */
  readonly showWaiting: (calls: () => number) => Effect.Effect<void, never, Scope.Scope>
  readonly count: (outcome: Outcome) => void
  readonly countCall: (outcome: "recorded" | Unrecorded, by?: number) => void
  /** `path` is of few, and holds no names and no ids. */
  readonly countUnrecognised: (path: string) => void
  readonly countSocket: (path: string) => void
}

/** `heldBytes` is what calls take that are not recorded. */
export const make = Effect.fnUntraced(function* (heldBytes: () => number) {
  const context = yield* Effect.context<never>()
  yield* ObservableMetrics.show(ObservableMetrics.of(held, () => ({ value: heldBytes() })))
  const counterOf = (metric: typeof calls, label: "outcome" | "path") => {
    const known = new Map<string, typeof calls>()
    return (value: string, by: number) => {
      const counter = known.get(value) ?? Metric.withAttributes(metric, { [label]: value })
      known.set(value, counter)
      counter.updateUnsafe(by, context)
    }
  }
  const countRequest = counterOf(requests, "outcome")
  const countCall = counterOf(calls, "outcome")
  const countUnrecognised = counterOf(unrecognised, "path")
  const countSocket = counterOf(sockets, "path")
  // Alerts see no increase in a metric without any series.
  for (const count of [countUnrecognised, countSocket]) count(otherPaths, 0)
  for (const outcome of outcomes) countRequest(outcome, 0)
  for (const outcome of ["recorded", ...alerted]) countCall(outcome, 0)
  return {
    showWaiting: (calls: () => number) =>
      ObservableMetrics.show(ObservableMetrics.of(waiting, () => ({ value: calls() }))),
    count: (outcome) => countRequest(outcome, 1),
    countCall: (outcome, by = 1) => countCall(outcome, by),
    countUnrecognised: (path) => countUnrecognised(path, 1),
    countSocket: (path) => countSocket(path, 1)
  } satisfies ProxyMetrics as ProxyMetrics
})
