/** The metrics of the proxy. */
import { type Context, Effect, Metric } from "effect"

const calls = Metric.counter("tachograph_proxy_requests_total", {
  description: "Requests to the proxy, by what became of them",
  incremental: true
})

const events = Metric.counter("tachograph_proxy_events_total", {
  description: "Model calls that passed the proxy, by whether they were recorded or why not",
  incremental: true
})

const held = Metric.gauge("tachograph_proxy_held_bytes", {
  description: "Bytes of calls that the proxy holds for the recorder"
})

/** `passed` counts what an upstream answered, whatever it answered. */
const outcomes = ["passed", "refused", "unreachable", "timeout", "cut"] as const
type Outcome = (typeof outcomes)[number]

const recordings = ["recorded", "too-large", "too-many", "refused", "failed"] as const
type Recording = (typeof recordings)[number]

const byName = <Name extends string>(metric: Metric.Counter<number>, label: string, names: ReadonlyArray<Name>) =>
  Object.fromEntries(names.map((name) => [name, Metric.withAttributes(metric, { [label]: name })])) as Record<
    Name,
    typeof metric
  >

const callsBy = byName(calls, "outcome", outcomes)
const eventsBy = byName(events, "outcome", recordings)

export interface ProxyMetrics {
  readonly count: (outcome: Outcome) => void
  readonly countEvent: (recording: Recording) => void
  readonly hold: (bytes: number) => void
}

/** Creates every series, because alerts see no increase in one that did not exist before. */
export const make: Effect.Effect<ProxyMetrics> = Effect.contextWith((context: Context.Context<never>) => {
  const metrics: ProxyMetrics = {
    count: (outcome) => callsBy[outcome].updateUnsafe(1, context),
    countEvent: (recording) => eventsBy[recording].updateUnsafe(1, context),
    hold: (bytes) => held.updateUnsafe(bytes, context)
  }
  for (const metric of [...Object.values(callsBy), ...Object.values(eventsBy)]) metric.updateUnsafe(0, context)
  metrics.hold(0)
  return Effect.succeed(metrics)
})
