/**
 * Computes what is derived from events anew, when the rules for it improve. Works in steps of bounded size, beside other processes
 * that record, erase and reindex: an event that is by the current rules already is left alone, so that an interrupted run goes on
 * where it was.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import * as Deriver from "../derive/Deriver.ts"
import * as Prices from "../facts/Prices.ts"
import * as Rules from "../facts/Rules.ts"
import type { Storage } from "../Storage.ts"
import { CachedSource } from "../verify/CachedSource.ts"
import * as FactsOfEvents from "./FactsOfEvents.ts"
import type { Options, Reindexing } from "./Reindexing.ts"

export { Counts, type LeftEvent } from "./Reindexing.ts"

/** By which events are computed now, with the prices of the reference `Prices`. */
export const currentRules: Effect.Effect<string> = Rules.current

/** The prices are likewise those of `Prices`. */
export const reindex = Effect.fn("Reindexer.reindex")(function* (
  storage: Storage["Service"],
  { projects, ...options }: Options
): Effect.fn.Return<void, StorageUnavailable> {
  const run = {
    ...options,
    storage,
    prices: yield* Effect.orDie(Prices.load),
    rules: yield* Rules.current,
    readFacts: (yield* Rules.Rules).read,
    startedAt: yield* DateTime.now
  }
  for (const project of projects) yield* reindexProject({ ...run, project, source: new CachedSource(storage) })
})

/** What follows from facts comes after them. */
const reindexProject = Effect.fnUntraced(function* (run: Reindexing) {
  const { project } = run
  yield* FactsOfEvents.recompute(run)
  yield* run.throttle(run.storage.dropDerived(project))
  yield* Deriver.derive(run.storage, project, run.throttle)
})
