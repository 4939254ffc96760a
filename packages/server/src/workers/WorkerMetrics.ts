/** The metrics of all workers as one text: the primary scrapes each worker and adds up the results. */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Worker as Child } from "node:cluster"
import { PrometheusText } from "@tachograph/router"
import type * as Worker from "./Worker.ts"

/** A worker that takes longer is busy or stuck. Less than Prometheus' scrape timeout, 10 s by default. */
const scrapeTimeout = Duration.seconds(1)

interface Member {
  /** The metrics that the worker sent last. */
  latest: PrometheusText.Exposition
  /** Unanswered scrapes, by id. */
  readonly pending: Map<number, Deferred.Deferred<void>>
}

const send = (child: Child, message: Worker.PrimaryMessage) => {
  // A worker may exit before the message arrives: errors are ignored.
  if (child.isConnected()) child.send(message, () => {})
}

export interface WorkerMetrics {
  /** Adds a process that was just started. It is counted from its `ready` message until it disconnects. */
  readonly add: (child: Child) => void
}

/** `count` is the number of workers that should be running. */
export const make = Effect.fnUntraced(function* (count: number): Effect.fn.Return<WorkerMetrics, never, Scope.Scope> {
  const run = yield* FiberSet.makeRuntime()
  const members = new Map<Child, Member>()
  // Counters of processes that have exited. Without them a sum would fall, which means a restart of the server.
  let exited = PrometheusText.empty
  let lastScrapeId = 0

  /** Whether the worker answered in time. */
  const scrape = (scrapeId: number, child: Child, { pending }: Member): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      const answered = Deferred.makeUnsafe<void>()
      pending.set(scrapeId, answered)
      send(child, { type: "scrape", scrapeId })
      return Effect.map(Effect.timeoutOption(Deferred.await(answered), scrapeTimeout), Option.isSome)
    }).pipe(Effect.ensuring(Effect.sync(() => pending.delete(scrapeId))))

  const collect = Effect.gen(function* () {
    const scrapeId = ++lastScrapeId
    const answered = new Set<Member>()
    yield* Effect.forEach(
      members,
      ([child, member]) =>
        Effect.map(scrape(scrapeId, child, member), (isAnswered) => isAnswered && answered.add(member)),
      { concurrency: "unbounded", discard: true }
    )
    let workers = 0
    const expositions = Array.from(members.values(), (member) => {
      if (!answered.has(member)) return PrometheusText.withoutGauges(member.latest)
      workers++
      return member.latest
    })
    const total = PrometheusText.sum([
      exited,
      ...expositions,
      PrometheusText.gauge("tachograph_workers", "Workers included in these metrics", workers),
      PrometheusText.gauge("tachograph_workers_missing", "Workers that did not respond in time", count - workers)
    ])
    return PrometheusText.render(total)
  })

  const add = (child: Child) => {
    const member: Member = { latest: PrometheusText.empty, pending: new Map() }
    child.on("message", (message: Worker.WorkerMessage) => {
      if (message.type === "ready") members.set(child, member)
      if (message.type === "metricsRequest") {
        const { requestId } = message
        run(Effect.map(collect, (text) => send(child, { type: "metrics", requestId, text })))
      }
      if (message.type === "metrics") {
        member.latest = PrometheusText.parse(message.text)
        const answered = message.scrapeId === undefined ? undefined : member.pending.get(message.scrapeId)
        if (answered !== undefined) Deferred.doneUnsafe(answered, Effect.void)
      }
    })
    // The metrics that a worker sends at exit arrive before `disconnect`.
    child.once("disconnect", () => {
      members.delete(child)
      exited = PrometheusText.sum([exited, PrometheusText.withoutGauges(member.latest)])
    })
  }
  return { add }
})
