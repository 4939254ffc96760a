/** Options of all benchmarks. */
import type { OwnPostgres } from "./Databases.ts"
import type { Workload } from "./Workload.ts"

export interface Options {
  readonly workloads: ReadonlyArray<Workload>
  /** Undefined: Postgres is skipped. */
  readonly postgres: OwnPostgres | undefined
  /** Repetitions of each timed measurement. */
  readonly runs: number
}

/** The workload with the most bytes, which benchmarks of a single run use. */
export const largest = ({ workloads }: Pick<Options, "workloads">): Workload =>
  workloads.reduce((best, workload) => (workload.bytes > best.bytes ? workload : best))
