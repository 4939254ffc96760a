import { Context, type Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"

/** The body of `/metrics`, in the text format of Prometheus. Defaults to the metrics of this process. */
export const MetricsText = Context.Reference<Effect.Effect<string>>("tachograph/router/MetricsText", {
  defaultValue: () => PrometheusMetrics.format()
})
