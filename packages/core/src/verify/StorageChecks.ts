/** What the storage checks itself, in steps: its tables, and what it derives from events. */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { DerivedPlace } from "../storage/Derived.ts"
import { attempt, type ProjectVerification, type Verification } from "./Verification.ts"

/** What the database finds wrong with its tables is damage that reads may not come across, such as of an index. */
export const checkTables = Effect.fnUntraced(function* (run: Verification): Effect.fn.Return<void, StorageUnavailable> {
  for (let after: string | undefined; ;) {
    const checked = yield* attempt(run, run.throttle(run.storage.checkTable(after)))
    if (checked === undefined) return
    const { damage, table } = checked
    for (const what of damage) yield* run.report({ problem: "file-damaged", reason: `Table ${table}: ${what}` })
    after = table
  }
})

/** Compares what is derived from the events of a project with them. */
export const checkDerived = Effect.fnUntraced(function* (
  run: ProjectVerification
): Effect.fn.Return<void, StorageUnavailable> {
  for (let after: DerivedPlace | undefined; ;) {
    const checked = yield* attempt(run, run.throttle(run.storage.checkDerived(run.project, after)))
    for (const what of checked?.damage ?? []) {
      yield* run.report({ problem: "rollup-wrong", reason: `Derived tables: ${what}` })
    }
    if (checked?.next === undefined) return
    after = checked.next
  }
})
