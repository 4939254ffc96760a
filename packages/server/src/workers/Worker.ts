/** This process as a worker, one of several that share a port: its assignment, and its messages to and from the primary. */
import { MetricsText, processMetrics } from "@tachograph/router"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import cluster from "node:cluster"
import * as NodeServer from "../http/NodeServer.ts"

export interface Assignment {
  /** From 1. A worker's replacement has the same number. */
  readonly number: number
  readonly port: number
}

/** From a worker to the primary. */
export type WorkerMessage =
  /** The worker accepts requests. */
  | { readonly type: "ready" }
  /** The worker cannot start. */
  | { readonly type: "failed"; readonly message: string }
  /** Requests the metrics of all workers. */
  | { readonly type: "metricsRequest"; readonly requestId: number }
  /** This worker's metrics: the response to a `scrape`, or the last ones, sent at exit. */
  | { readonly type: "metrics"; readonly text: string; readonly scrapeId?: number }

/** From the primary to a worker. */
export type PrimaryMessage =
  /** Exit without losing a request. A signal makes the worker exit sooner. */
  | { readonly type: "retire" }
  /** Requests this worker's metrics. */
  | { readonly type: "scrape"; readonly scrapeId: number }
  /** The metrics of all workers: the response to a `metricsRequest`. */
  | { readonly type: "metrics"; readonly requestId: number; readonly text: string }

const variable = "TACHOGRAPH_WORKER"

/** The environment that gives a new process its assignment. */
export const environment = (assignment: Assignment): Record<string, string> => ({
  [variable]: JSON.stringify(assignment)
})

const assignmentJson = process.env[variable]

/** Undefined if this process is not a worker. */
export const assignment: Assignment | undefined =
  cluster.isWorker && assignmentJson !== undefined ? (JSON.parse(assignmentJson) as Assignment) : undefined

export const send = (message: WorkerMessage): Effect.Effect<void> =>
  Effect.callback((resume) => {
    process.send!(message, () => resume(Effect.void))
  })

/** In a worker, closes the server and ends the process when the primary says so. */
export const retirable = (server: NodeServer.GracefulServer): NodeServer.GracefulServer => {
  if (assignment === undefined) return server
  const end = () => process.kill(process.pid, "SIGTERM")
  process.on("message", (message: PrimaryMessage) => {
    if (message.type !== "retire") return
    server.retire(end)
    setTimeout(end, NodeServer.shutdownGraceMs).unref()
  })
  return server
}

/** In a worker, `/metrics` returns the sum over all workers, which the primary computes. */
export const metrics: Layer.Layer<never> =
  assignment === undefined
    ? Layer.empty
    : Layer.effect(
        MetricsText,
        Effect.gen(function* () {
          const own = processMetrics
          const run = Effect.runForkWith(yield* Effect.context<never>())
          const pending = new Map<number, (text: string) => void>()
          let lastRequestId = 0
          process.on("message", (message: PrimaryMessage) => {
            if (message.type === "scrape") {
              run(Effect.flatMap(own, (text) => send({ type: "metrics", text, scrapeId: message.scrapeId })))
            } else if (message.type === "metrics") {
              pending.get(message.requestId)?.(message.text)
              pending.delete(message.requestId)
            }
          })
          yield* Effect.addFinalizer(() => Effect.flatMap(own, (text) => send({ type: "metrics", text })))
          return Effect.callback<string>((resume) => {
            const requestId = ++lastRequestId
            pending.set(requestId, (text) => resume(Effect.succeed(text)))
            process.send!({ type: "metricsRequest", requestId } satisfies WorkerMessage)
            return Effect.sync(() => pending.delete(requestId))
          })
        })
      )
