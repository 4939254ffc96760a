/** The metrics of requests. */
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"

const requests = Metric.counter("tachograph_http_requests_total", {
  description: "HTTP requests answered, by method and status",
  incremental: true
})

const refusals = Metric.counter("tachograph_http_refusals_total", {
  description: "HTTP requests answered with an error, by its type",
  incremental: true
})

/** Seconds: from an answer out of memory to a client's usual timeout. */
const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const durations = Metric.histogram("tachograph_http_request_seconds", {
  description: "Seconds from a request's headers to its answer, by method",
  boundaries
})

/** Methods with a label of their own. Others share one: clients may send any number of names. */
const counted: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

export const methodLabel = (method: string): string => (counted.has(method) ? method : "other")

/** Caches metrics by their attributes: there are few, and every request updates some. */
const cached = <State>(metric: Metric.Metric<number, State>, ...names: ReadonlyArray<string>) => {
  const known = new Map<string, Metric.Metric<number, State>>()
  return (...values: ReadonlyArray<string>): Metric.Metric<number, State> => {
    const key = values.join(" ")
    let found = known.get(key)
    if (found === undefined) {
      found = Metric.withAttributes(metric, Object.fromEntries(names.map((name, at) => [name, values[at]!])))
      known.set(key, found)
    }
    return found
  }
}

const requestsOf = cached(requests, "method", "status")
const refusalsOf = cached(refusals, "type")
const durationsOf = cached(durations, "method")

/** Error types that alerts watch. Prometheus sees no increase in a series that did not exist before. */
const alertedRefusals = ["internal", "overloaded", "storage-unavailable"]

/** Creates the series that alerts watch, with value 0. */
export const initialize = (context: Context.Context<never>): void => {
  requestsOf("POST", "500").updateUnsafe(0, context)
  for (const type of alertedRefusals) refusalsOf(type).updateUnsafe(0, context)
}

export interface RequestOutcome {
  readonly method: string
  readonly status: number
  /** The error's `type`, if the answer is an error. */
  readonly refusal: string | undefined
  readonly seconds: number
}

export const update = (context: Context.Context<never>, { method, refusal, seconds, status }: RequestOutcome): void => {
  const name = methodLabel(method)
  requestsOf(name, String(status)).updateUnsafe(1, context)
  durationsOf(name).updateUnsafe(seconds, context)
  if (refusal !== undefined) refusalsOf(refusal).updateUnsafe(1, context)
}
