/** What `/metrics` says of the process itself, by the names that Prometheus' own clients use. */
import { ObservableMetrics } from "@tachograph/core"
import { Effect, Layer, Metric } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import packageJson from "../../package.json" with { type: "json" }

const buildInfo = Metric.gauge("tachograph_build_info", {
  description: "1, labelled with the version that runs",
  attributes: { version: packageJson.version }
})

const memory = Metric.gauge("process_resident_memory_bytes", { description: "Memory that the process occupies" })

const cpu = Metric.counter("process_cpu_seconds_total", {
  description: "Seconds of a core that the process has used",
  incremental: true
})

const lag = Metric.gauge("nodejs_eventloop_lag_seconds", {
  description: "The longest time since the last scrape for which the process attended to nothing else"
})

/** How often the event loop is looked at, in milliseconds: often enough to see what a client would feel. */
const resolution = 20

/** They are read when somebody asks; only the event loop is watched, by a timer that runs no JavaScript. */
export const layer: Layer.Layer<never> = Layer.effectDiscard(
  Effect.gen(function* () {
    const delay = monitorEventLoopDelay({ resolution })
    delay.enable()
    yield* Effect.addFinalizer(() => Effect.sync(() => delay.disable()))
    yield* ObservableMetrics.show(
      ObservableMetrics.of(buildInfo, () => ({ value: 1 })),
      ObservableMetrics.of(memory, () => ({ value: process.memoryUsage.rss() })),
      ObservableMetrics.of(cpu, () => {
        const { system, user } = process.cpuUsage()
        return { count: (system + user) / 1e6, incremental: true }
      }),
      ObservableMetrics.of(lag, () => {
        const value = Math.max(0, delay.max / 1e6 - resolution) / 1e3
        delay.reset()
        return { value }
      })
    )
  })
)
