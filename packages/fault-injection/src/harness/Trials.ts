/** Runs faults on storages, one after the other. */
import * as Check from "./Check.ts"
import * as Citus from "./Citus.ts"
import * as Postgres from "./Postgres.ts"
import * as Store from "./Store.ts"
import * as Trial from "./Trial.ts"

export interface Options {
  readonly faults: ReadonlyArray<Trial.Fault>
  readonly kinds: ReadonlyArray<Store.Kind>
  readonly command: string
  readonly seed: number
  /** Default: each fault's own number. */
  readonly rounds?: number | undefined
  /** How long a frozen database stays frozen. */
  readonly seconds: number
  /**
   * Takes less processor time: faults share a store and are compared with it after the last of them, which starts half as many servers,
   * and loads are light.
   */
  readonly isLight?: boolean
  readonly progress?: (text: string) => void
}

export interface Result {
  readonly fault: Trial.Fault
  readonly kind: Store.Kind
  readonly report: Check.Report
  readonly seconds: number
}

/** Runs faults on one store, and compares what they have sent with it. */
const onStore = async (
  faults: ReadonlyArray<Trial.Fault>,
  store: Store.Store,
  options: Options
): Promise<ReadonlyArray<Result>> => {
  const ran: Array<Trial.Ran> = []
  const seconds: Array<number> = []
  try {
    for (const fault of faults) {
      const settings = { isLight: false, ...options, rounds: options.rounds ?? fault.rounds }
      const startedAt = performance.now()
      ran.push(await Trial.run(fault, store, settings, options.progress ?? (() => {})))
      seconds.push((performance.now() - startedAt) / 1_000)
    }
    const reports = await Check.reports(store, options.command, ran)
    return faults.map((fault, n) => ({ fault, kind: store.kind, report: reports[n]!, seconds: seconds[n]! }))
  } finally {
    for (const { cleanUp } of ran) cleanUp()
    await store.remove()
  }
}

/** The faults by the stores on which they happen. */
const byStore = ({ faults, isLight }: Options): ReadonlyArray<ReadonlyArray<Trial.Fault>> => {
  const own = faults.filter(({ needsOwnStore }) => !isLight || needsOwnStore)
  const shared = faults.filter((fault) => !own.includes(fault))
  return [...own.map((fault) => [fault]), ...(shared.length > 0 ? [shared] : [])]
}

export const all = async (options: Options): Promise<ReadonlyArray<Result>> => {
  const results: Array<Result> = []
  let postgres: Postgres.Postgres | undefined
  const storeOf = async (kind: Store.Kind): Promise<Store.Store> => {
    if (kind === "sqlite") return Store.sqlite()
    if (kind === "postgres") return Store.postgres((postgres ??= await Postgres.start()))
    if (Citus.citusUrl === undefined) throw new Error("TACHOGRAPH_TEST_CITUS_URL is not set")
    return Store.citus(await Citus.connect(Citus.citusUrl))
  }
  try {
    for (const faults of byStore(options)) {
      for (const kind of options.kinds) {
        const possible = faults.filter((fault) => fault.storages.includes(kind))
        if (possible.length > 0) results.push(...(await onStore(possible, await storeOf(kind), options)))
      }
    }
  } finally {
    await postgres?.remove()
  }
  return results
}
