/** What the figures are given. */
import type { OwnPostgres } from "./Databases.ts"
import type { Workload } from "./Workload.ts"

export interface Options {
  readonly workloads: ReadonlyArray<Workload>
  /** Undefined: figures leave Postgres out. */
  readonly postgres: OwnPostgres | undefined
  /** How often what is timed is repeated. */
  readonly runs: number
}

/** The one with the longest histories to its bytes: what is said of a run is said of this one. */
export const longest = ({ workloads }: Pick<Options, "workloads">): Workload =>
  workloads.reduce((best, each) => (each.bytes > best.bytes ? each : best))
