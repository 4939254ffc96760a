/** The body of `/metrics`, in the text format of Prometheus. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as PrometheusText from "./PrometheusText.ts"

/** The metrics of the other threads of this process, of which each has its own. */
export class ThreadMetrics {
  readonly #live = new Set<Effect.Effect<string | undefined>>()
  /** Counters of threads that have ended. */
  #past = PrometheusText.empty

  /** `text` is undefined while the thread does not answer. */
  add(text: Effect.Effect<string | undefined>): void {
    this.#live.add(text)
  }

  delete(text: Effect.Effect<string | undefined>): void {
    this.#live.delete(text)
  }

  /** Keeps the counters of a thread that has ended, by its last text. */
  keep(text: string): void {
    this.#past = PrometheusText.sum([this.#past, PrometheusText.withoutGauges(PrometheusText.parse(text))])
  }

  get isEmpty(): boolean {
    return this.#live.size === 0 && this.#past.size === 0
  }

  /** The expositions of all threads. */
  get expositions(): Effect.Effect<ReadonlyArray<PrometheusText.Exposition>> {
    return Effect.map(Effect.all(Array.from(this.#live), { concurrency: "unbounded" }), (texts) => [
      this.#past,
      ...texts.flatMap((text) => (text === undefined ? [] : [PrometheusText.parse(text)]))
    ])
  }
}

/** One for the process. */
export const OtherThreads = Context.Reference<ThreadMetrics>("tachograph/router/OtherThreads", {
  defaultValue: () => new ThreadMetrics()
})

/** The metrics of this process: the sums over its threads. */
export const ofProcess: Effect.Effect<string> = Effect.gen(function* () {
  const own = yield* PrometheusMetrics.format()
  const others = yield* OtherThreads
  if (others.isEmpty) return own
  return PrometheusText.render(PrometheusText.sum([PrometheusText.parse(own), ...(yield* others.expositions)]))
})

/** The metrics of this process, unless there are others beside it. */
export const MetricsText = Context.Reference<Effect.Effect<string>>("tachograph/router/MetricsText", {
  defaultValue: () => ofProcess
})
