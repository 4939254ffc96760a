/** Runs the database's own checks of its tables. What they find is damage that reads may not come across, such as of an index. */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import { attempt, type Run } from "./Run.ts"

export const check = Effect.fnUntraced(function* (run: Run): Effect.fn.Return<void, StorageUnavailable> {
  for (let after: string | undefined; ;) {
    const checked = yield* attempt(run, {}, run.throttle(run.storage.checkTable(after)))
    if (checked === undefined) return
    const { damage, table } = checked
    for (const what of damage) yield* run.report({ problem: "file-damaged", reason: `Table ${table}: ${what}` })
    after = table
  }
})
