/** This process as one of several that share a port: what its primary told it, and what it tells its primary. */
import { Effect } from "effect"
import cluster from "node:cluster"
import * as NodeServer from "./NodeServer.ts"

export interface Assignment {
  /** From 1; a worker's replacement has its number. */
  readonly number: number
  readonly port: number
}

/** What a worker tells: once that it answers requests, or why it cannot. */
export type Told = { readonly ready: true } | { readonly failure: string }

/** What a worker is told: to end without a request being lost. A signal is quicker. */
export const retire = "retire"

const variable = "TACHOGRAPH_WORKER"

/** The environment in which a process finds its assignment. */
export const environment = (assignment: Assignment): Record<string, string> => ({
  [variable]: JSON.stringify(assignment)
})

const assigned = process.env[variable]

/** Undefined where this process is nobody's worker. */
export const assignment: Assignment | undefined =
  cluster.isWorker && assigned !== undefined ? (JSON.parse(assigned) as Assignment) : undefined

export const tell = (told: Told): Effect.Effect<void> =>
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
