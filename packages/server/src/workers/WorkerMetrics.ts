/** The metrics of all workers as one text: their primary asks each of them, and adds up what they tell. */
import { Deferred, Duration, Effect, FiberSet, Option, type Scope } from "effect"
import type { Worker as Child } from "node:cluster"
import * as PrometheusText from "./PrometheusText.ts"
import type * as Worker from "./Worker.ts"

/** Whoever scrapes waits for longer; a worker that does not answer by then is busy or stuck. */
const answerWithin = Duration.seconds(1)

interface Member {
  /** What it told last. */
  told: PrometheusText.Exposition
  /** By the number of the scrape. */
  readonly asked: Map<number, Deferred.Deferred<void>>
}

const send = (child: Child, message: Worker.PrimaryMessage) => {
  // One that ends meanwhile needs no answer.
  if (child.isConnected()) child.send(message, () => {})
}

export interface WorkerMetrics {
  /** Takes in a process that was just started; it counts from when it says that it is ready until it ends. */
  readonly add: (child: Child) => void
}

/** Of so many workers. */
export const make = Effect.fnUntraced(function* (count: number): Effect.fn.Return<WorkerMetrics, never, Scope.Scope> {
  const run = yield* FiberSet.makeRuntime()
  const members = new Map<Child, Member>()
  // Sums that fell when a process ends would look like those of a server that has begun anew.
  let past = PrometheusText.empty
  let scrapes = 0

  const ask = (scrape: number, child: Child, { asked }: Member): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      const answered = Deferred.makeUnsafe<void>()
      asked.set(scrape, answered)
      send(child, { scrape })
      return Effect.map(Effect.timeoutOption(Deferred.await(answered), answerWithin), Option.isSome)
    }).pipe(Effect.ensuring(Effect.sync(() => asked.delete(scrape))))

  const collect = Effect.gen(function* () {
    const scrape = ++scrapes
    const answered = new Set<Member>()
    yield* Effect.forEach(
      members,
      ([child, member]) => Effect.map(ask(scrape, child, member), (isThere) => isThere && answered.add(member)),
      { concurrency: "unbounded", discard: true }
    )
    let workers = 0
    const told = Array.from(members.values(), (member) => {
      if (!answered.has(member)) return PrometheusText.lasting(member.told)
      workers++
      return member.told
    })
    const all = PrometheusText.sum([
      past,
      ...told,
      PrometheusText.gauge("tachograph_workers", "Workers whose metrics these are", workers),
      PrometheusText.gauge("tachograph_workers_missing", "Workers that did not tell theirs in time", count - workers)
    ])
    return PrometheusText.render(all)
  })

  const add = (child: Child) => {
    const member: Member = { told: PrometheusText.empty, asked: new Map() }
    child.on("message", (told: Worker.WorkerMessage) => {
      if ("ready" in told) members.set(child, member)
      if ("wanted" in told) {
        run(Effect.map(collect, (metrics) => send(child, { wanted: told.wanted, metrics })))
      }
      if ("metrics" in told) {
        member.told = PrometheusText.parse(told.metrics)
        const answered = told.scrape === undefined ? undefined : member.asked.get(told.scrape)
        if (answered !== undefined) Deferred.doneUnsafe(answered, Effect.void)
      }
    })
    // What it said at its end has come by then.
    child.once("disconnect", () => {
      members.delete(child)
      past = PrometheusText.sum([past, PrometheusText.lasting(member.told)])
    })
  }
  return { add }
})
