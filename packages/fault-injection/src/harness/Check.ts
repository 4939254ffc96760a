/** Compares what faults have sent with their storage, and reports on them. */
import * as Ledger from "./Ledger.ts"
import * as Server from "./Server.ts"
import type { Store } from "./Store.ts"
import * as Trial from "./Trial.ts"

export interface Report extends Pick<Trial.Ran, "rounds" | "notes" | "violations" | "skipped"> {
  readonly acknowledged: number
  readonly refused: number
  readonly unknown: number
  readonly found: number
  readonly refusedButFound: number
}

const nothing: Ledger.Result = { found: 0, refusedButFound: 0, violations: [] }

const count = (entries: ReadonlyArray<Ledger.Entry>, kind: Ledger.Outcome["kind"]) =>
  entries.filter(({ outcome }) => outcome.kind === kind).length

const reportOf = (ran: Trial.Ran, result: Ledger.Result, problems: ReadonlyArray<string>): Report => {
  const { entries, notes, rounds, skipped, violations } = ran
  const byReason = Map.groupBy(entries, ({ outcome }) => (outcome.kind === "acknowledged" ? "" : outcome.reason))
  byReason.delete("")
  return {
    rounds,
    acknowledged: count(entries, "acknowledged"),
    refused: count(entries, "refused"),
    unknown: count(entries, "unknown"),
    found: result.found,
    refusedButFound: result.refusedButFound,
    notes: [...notes, ...Array.from(byReason, ([reason, { length }]) => `${length} × ${reason}`)],
    violations: [...violations, ...result.violations, ...problems],
    skipped
  }
}

/** One report for each of the faults that ran on the store. A new server reads their events: its caches are empty. */
export const reports = async (
  store: Store,
  command: string,
  all: ReadonlyArray<Trial.Ran>
): Promise<ReadonlyArray<Report>> => {
  const results = new Map<Trial.Ran, Ledger.Result>()
  const complete = all.filter(({ isComplete }) => isComplete)
  let problems: ReadonlyArray<string> = []
  let server: Server.Server | undefined
  try {
    if (complete.length > 0) server = await Server.start({ command, storage: store.url, key: Trial.key })
    for (const ran of complete) {
      const reader = Ledger.readerOf(server!)
      results.set(ran, await Ledger.check(reader, ran.entries).finally(reader.close))
    }
    await server?.kill()
    if (complete.length > 0) problems = (await store.problems()).map((problem) => `integrity_check: ${problem}`)
  } catch (error) {
    problems = [`check: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`]
  } finally {
    await server?.kill()
  }
  return all.map((ran) => reportOf(ran, results.get(ran) ?? nothing, ran.isComplete ? problems : []))
}
