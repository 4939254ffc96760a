import { Context, type Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"

/** What `/metrics` answers, in the text format of Prometheus: this process's metrics unless something else is provided. */
export const MetricsText = Context.Reference<Effect.Effect<string>>("tachograph/router/MetricsText", {
  defaultValue: () => PrometheusMetrics.format()
})
