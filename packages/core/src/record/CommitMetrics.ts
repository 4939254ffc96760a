/** The metrics of group commit, updated once per batch. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as ObservableMetrics from "../telemetry/ObservableMetrics.ts"
import type { AppendEvent } from "../storage/Appending.ts"
import type { AdmissionControl } from "./AdmissionControl.ts"

const events = Metric.counter("tachograph_events_total", {
  description: "Events recorded",
  incremental: true
})

const replays = Metric.counter("tachograph_event_replays_total", {
  description: "Requests that were answered with an earlier event, by their idempotency key",
  incremental: true
})

const sentBytes = Metric.counter("tachograph_sent_bytes_total", {
  description: "Bytes of inputs and outputs as sent",
  incremental: true
})

const storedBytes = Metric.counter("tachograph_stored_bytes_total", {
  description: "Bytes of the packs written for events, without shared pieces",
  incremental: true
})

const batchEvents = Metric.histogram("tachograph_batch_events", {
  description: "Events committed by one transaction",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256]
})

const commitSeconds = Metric.histogram("tachograph_commit_seconds", {
  description: "Seconds to write the packs of a batch and to commit it",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

const failures = Metric.counter("tachograph_commit_failures_total", {
  description: "Batches that could not be committed",
  incremental: true
})

const queueEvents = Metric.gauge("tachograph_queue_events", {
  description: "Events whose bodies are complete and that are not answered yet"
})

const queueBytes = Metric.gauge("tachograph_queue_bytes", {
  description: "Bytes of the bodies of those events"
})

export interface CommitMetrics {
  /** Counts a committed batch, which took this many seconds. */
  readonly committed: (written: ReadonlyArray<AppendEvent>, seconds: number) => void
  readonly replayed: () => void
  readonly failed: () => void
}

export const make: Effect.Effect<CommitMetrics> = Effect.map(Effect.context<never>(), (context) => {
  const committed: CommitMetrics["committed"] = (written, seconds) => {
    // Every event of it was a replay.
    if (written.length === 0) return
    let sent = 0
    let stored = 0
    for (const { pack, summary } of written) {
      sent += summary.inputsBytes + summary.outputBytes
      stored += pack.bytes.length
    }
    // Creates the series with the first batch: Prometheus sees no increase in a series that did not exist before.
    replays.updateUnsafe(0, context)
    failures.updateUnsafe(0, context)
    events.updateUnsafe(written.length, context)
    sentBytes.updateUnsafe(sent, context)
    storedBytes.updateUnsafe(stored, context)
    batchEvents.updateUnsafe(written.length, context)
    commitSeconds.updateUnsafe(seconds, context)
  }
  return {
    committed,
    replayed: () => replays.updateUnsafe(1, context),
    failed: () => failures.updateUnsafe(1, context)
  }
})

const answerBytes = Metric.gauge("tachograph_answer_bytes", {
  description: "Bytes of answers above 16 KiB that are being read, or that their clients have not taken yet"
})

const streams = Metric.gauge("tachograph_streams", {
  description: "Answers that are being made while their clients take them"
})

/** Publishes what requests hold while the scope is open. */
export const showAdmission = (admission: AdmissionControl): Effect.Effect<void, never, Scope.Scope> =>
  ObservableMetrics.show(
    ObservableMetrics.of(queueEvents, () => ({ value: admission.queued.events })),
    ObservableMetrics.of(queueBytes, () => ({ value: admission.queued.bytes })),
    ObservableMetrics.of(answerBytes, () => ({ value: admission.answerBytes })),
    ObservableMetrics.of(streams, () => ({ value: admission.streams }))
  )
