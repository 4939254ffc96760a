/** Copies the file of a storage that servers may be recording into. */
import { Throttle, Verifier } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { existsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import * as StorageChoice from "../config/StorageChoice.ts"
import * as Bytes from "../terminal/Bytes.ts"
import { CommandError } from "../terminal/CliErrors.ts"
import * as VerifyReport from "../terminal/VerifyReport.ts"
import { check } from "./Check.ts"
import * as Files from "./Files.ts"

/** How far a backup or the check of one is, in one line. */
export interface State {
  text: string
}

/** The check works for half of the time: a server may record on the same machine. */
const checkRate = 0.5

const refuseExisting = (path: string) =>
  existsSync(path)
    ? Effect.fail(new CommandError({ message: `${path} exists: a backup never overwrites a file` }))
    : Effect.void

/** Makes a checked copy of `file` at `path`, and returns what it is in one line. Says in `state` how far it is. */
export const make = Effect.fnUntraced(function* (
  source: StorageChoice.StorageChoice,
  file: string,
  path: string,
  state: State
) {
  if (!source.exists()) return yield* new CommandError({ message: `The storage does not exist (${source.label})` })
  yield* refuseExisting(path)
  if (!existsSync(dirname(path)))
    return yield* new CommandError({ message: `The folder ${dirname(path)} does not exist` })
  // Says so at once where it is another program's, or a later version's.
  yield* source.pending
  const { Backup } = yield* StorageChoice.sqlitePackage
  const counts = new Verifier.Counts()
  let damage: string | undefined
  let isVerified = false
  yield* Files.whole(path, (partial) =>
    Effect.gen(function* () {
      yield* Backup.copy(file, partial, (part) => {
        state.text = `Copied ${Math.floor(100 * part)}% of ${Bytes.format(statSync(file).size)}`
      }).pipe(Effect.mapError((error) => StorageChoice.failure("back up", source.label, error)))
      state.text = "Copied; checking it"
      const progress = Effect.sync(() => void (state.text = VerifyReport.progressText(counts, undefined)))
      isVerified = yield* check(partial, counts, (step) =>
        Effect.andThen(progress, Throttle.atRate(checkRate)(step))
      ).pipe(
        Effect.catchTag("CommandError", (error) => {
          if (!error.isDamage) return Effect.fail(error)
          damage = error.message
          return Effect.succeed(true)
        })
      )
      const named = damage === undefined ? path : `${path}.damaged`
      yield* refuseExisting(named)
      return named
    })
  )
  if (damage !== undefined) {
    const message = `The storage is damaged: ${damage}. The copy is ${path}.damaged; keep the backups before it, and see docs/verify.md`
    return yield* new CommandError({ message, isDamage: true })
  }
  const size = Bytes.format(statSync(path).size)
  return isVerified
    ? `Backed up ${file} to ${path} (${size}). ${VerifyReport.text.summary(counts, true)}`
    : `Backed up ${file} to ${path} (${size}). Its pages are whole; its events are of an earlier version, and were not read`
})
