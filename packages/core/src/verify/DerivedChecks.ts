/** Compares what is derived from the events of a project with them. */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { DerivedPlace } from "../storage/Derived.ts"
import { attempt, type Run } from "./Run.ts"

export const check = Effect.fnUntraced(function* (
  run: Run,
  project: ProjectId
): Effect.fn.Return<void, StorageUnavailable> {
  for (let after: DerivedPlace | undefined; ;) {
    const checked = yield* attempt(run, { project }, run.throttle(run.storage.checkDerived(project, after)))
    for (const what of checked?.damage ?? []) {
      yield* run.report({ problem: "rollup-wrong", project, reason: `Derived tables: ${what}` })
    }
    if (checked?.next === undefined) return
    after = checked.next
  }
})
