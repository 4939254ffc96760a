/** Runs faults on storages, one after the other. */
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
  readonly progress?: (text: string) => void
}

export interface Result {
  readonly fault: Trial.Fault
  readonly kind: Store.Kind
  readonly report: Trial.Report
  readonly seconds: number
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
    for (const fault of options.faults) {
      for (const kind of options.kinds.filter((kind) => fault.storages.includes(kind))) {
        const store = await storeOf(kind)
        const settings = { ...options, rounds: options.rounds ?? fault.rounds }
        const startedAt = performance.now()
        const report = await Trial.run(fault, store, settings, options.progress ?? (() => {}))
        await store.remove()
        results.push({ fault, kind, report, seconds: (performance.now() - startedAt) / 1_000 })
      }
    }
  } finally {
    await postgres?.remove()
  }
  return results
}
