/** Whether a file is whole, as `tachograph verify` finds out: it reads back every event, and has SQLite check each table and index. */
import { Storage, Throttle, Verifier } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Project from "../config/Project.ts"
import * as StorageChoice from "../config/StorageChoice.ts"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Figures from "../terminal/Figures.ts"
import * as VerifyReport from "../terminal/VerifyReport.ts"

/** Reads back every event. Fails if anything is wrong. */
const verifyEvents = Effect.fnUntraced(function* (counts: Verifier.Counts, throttle: Throttle.Throttle) {
  const storage = yield* Storage
  const projects = yield* Project.select(Option.none())
  let first: string | undefined
  yield* Verifier.verify(storage, {
    projects,
    session: undefined,
    since: undefined,
    throttle,
    counts,
    report: (finding) => Effect.sync(() => void (first ??= VerifyReport.text.finding(finding)))
  })
  if (first === undefined) return
  const more = counts.problems === 1 ? "" : ` (and ${Figures.integer(counts.problems - 1)} more)`
  return yield* new CommandError({ message: first + more, isDamage: true })
})

/**
 * Fails if anything is wrong with the file at `path`, if it does not have the tables of Tachograph, or has those of a later version.
 * Returns false if its tables are those of an earlier version, whose events are readable only when they are migrated.
 */
export const check = Effect.fnUntraced(function* (
  path: string,
  counts: Verifier.Counts,
  throttle: Throttle.Throttle = Throttle.unthrottled
) {
  const choice = Option.getOrThrow(StorageChoice.parse(`sqlite:${path}`))
  const pending = yield* choice.pending
  const { Migrations } = yield* StorageChoice.sqlPackage
  if (pending.length === Migrations.names.length) return yield* new CommandError({ message: "the file has no tables" })
  if (pending.length > 0) {
    const { Backup } = yield* StorageChoice.sqlitePackage
    const [problem] = yield* Effect.mapError(Backup.problems(path), (error) =>
      StorageChoice.failure("open", choice.label, error)
    )
    return problem === undefined ? false : yield* new CommandError({ message: problem, isDamage: true })
  }
  yield* Effect.provide(verifyEvents(counts, throttle), choice.layerReadOnly)
  return true
})
