/** This process as one of several that share a port: what its primary told it, and what it tells its primary. */
import { MetricsText } from "@tachograph/router"
import { Effect, Layer } from "effect"
import { PrometheusMetrics } from "effect/observability"
import cluster from "node:cluster"
import * as NodeServer from "../http/NodeServer.ts"

export interface Assignment {
  /** From 1; a worker's replacement has its number. */
  readonly number: number
  readonly port: number
}

/**
 * What a worker tells: once that it answers requests, or why it cannot; that it was asked for the metrics of all, and what
 * its own are, when it is asked for them and at its end.
 */
export type WorkerMessage =
  | { readonly ready: true }
  | { readonly failure: string }
  | { readonly wanted: number }
  | { readonly metrics: string; readonly scrape?: number }

/** What a worker is told: to end without a request being lost. A signal is quicker. */
export const retire = "retire"

/** What a worker is told besides: to tell its metrics, or those of all, which it wanted. */
export type PrimaryMessage = { readonly scrape: number } | { readonly wanted: number; readonly metrics: string }

const variable = "TACHOGRAPH_WORKER"

/** The environment in which a process finds its assignment. */
export const environment = (assignment: Assignment): Record<string, string> => ({
  [variable]: JSON.stringify(assignment)
})

const assigned = process.env[variable]

/** Undefined where this process is nobody's worker. */
export const assignment: Assignment | undefined =
  cluster.isWorker && assigned !== undefined ? (JSON.parse(assigned) as Assignment) : undefined

export const send = (told: WorkerMessage): Effect.Effect<void> =>
  Effect.callback((resume) => {
    process.send!(told, () => resume(Effect.void))
  })

/** A server that goes when it is told to, and this process with it. */
export const retirable = (server: NodeServer.GracefulServer): NodeServer.GracefulServer => {
  if (assignment === undefined) return server
  const end = () => process.kill(process.pid, "SIGTERM")
  process.on("message", (message) => {
    if (message !== retire) return
    server.retire(end)
    setTimeout(end, NodeServer.grace).unref()
  })
  return server
}

/** In a worker, `/metrics` answers for all of them: its primary adds up what each tells. */
export const metrics: Layer.Layer<never> =
  assignment === undefined
    ? Layer.empty
    : Layer.effect(
        MetricsText,
        Effect.gen(function* () {
          const own = PrometheusMetrics.format()
          const run = Effect.runForkWith(yield* Effect.context<never>())
          const waiting = new Map<number, (metrics: string) => void>()
          let asked = 0
          process.on("message", (said: PrimaryMessage | typeof retire) => {
            if (said === retire) return
            if ("scrape" in said) {
              run(Effect.flatMap(own, (metrics) => send({ metrics, scrape: said.scrape })))
            } else {
              waiting.get(said.wanted)?.(said.metrics)
              waiting.delete(said.wanted)
            }
          })
          yield* Effect.addFinalizer(() => Effect.flatMap(own, (metrics) => send({ metrics })))
          return Effect.callback<string>((resume) => {
            const wanted = ++asked
            waiting.set(wanted, (metrics) => resume(Effect.succeed(metrics)))
            process.send!({ wanted } satisfies WorkerMessage)
            return Effect.sync(() => waiting.delete(wanted))
          })
        })
      )
