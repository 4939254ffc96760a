/** Metrics of the process itself, with the names that Prometheus' own clients use. */
import { ObservableMetrics } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { monitorEventLoopDelay } from "node:perf_hooks"
import packageJson from "../../package.json" with { type: "json" }

const buildInfo = Metric.gauge("tachograph_build_info", {
  description: "Always 1, labelled with the running version",
  attributes: { version: packageJson.version }
})

const memory = Metric.gauge("process_resident_memory_bytes", { description: "Resident memory size in bytes" })

const cpu = Metric.counter("process_cpu_seconds_total", {
  description: "User and system CPU time in seconds",
  incremental: true
})

const lag = Metric.gauge("nodejs_eventloop_lag_seconds", {
  description: "Longest delay of the event loop since the last scrape, in seconds"
})

/** Interval at which the event loop's delay is sampled (ms). */
const lagResolutionMs = 20

/** Values are read on each scrape. Only the event loop's delay is sampled, by a native timer that runs no JavaScript. */
export const layer: Layer.Layer<never> = Layer.effectDiscard(
  Effect.gen(function* () {
    const delay = monitorEventLoopDelay({ resolution: lagResolutionMs })
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
        const value = Math.max(0, delay.max / 1e6 - lagResolutionMs) / 1e3
        delay.reset()
        return { value }
      })
    )
  })
)
