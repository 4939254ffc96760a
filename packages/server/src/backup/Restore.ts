/** Puts a backup in the place of a storage's file. */
import { Verifier } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { existsSync, renameSync, statSync } from "node:fs"
import { resolve } from "node:path"
import * as StorageChoice from "../config/StorageChoice.ts"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Figures from "../terminal/Figures.ts"
import * as VerifyReport from "../terminal/VerifyReport.ts"
import type { State } from "./Backup.ts"
import { check } from "./Check.ts"
import * as Files from "./Files.ts"

const refuse = (message: string) => Effect.fail(new CommandError({ message }))

/** Fails unless there is one file at `path` with all that belongs to it. */
const refuseSource = (path: string, file: string) => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return refuse(`${path} does not exist`)
  if (!found.isFile()) return refuse(`${path} is not a file`)
  if (resolve(path) === file) return refuse(`${path} is the storage itself`)
  const log = Files.logBeside(path)
  if (log === undefined) return Effect.void
  return refuse(
    `${log} belongs to ${path}, so that this is no backup but a database in use, or a copy of one: make a backup of it with ` +
      `tachograph backup --storage sqlite:${path} NEW_PATH, and restore that`
  )
}

const busy = (file: string) =>
  `${file} is open: stop the server, and whatever else uses it, and restore again. Nothing was changed`

/** Why events would be lost. */
const lossText = (file: string, events: number, lastMs: number) =>
  `${file} has ${Figures.integer(events)} ${events === 1 ? "event" : "events"} that the backup does not have, received until ` +
  `${new Date(lastMs).toISOString()}. Nothing was changed. To go without them, move the file aside and restore again; ` +
  `tachograph copy sqlite:${file}.old sqlite:${file} brings them afterwards, if it is ${file}.old then`

/** Moves the present file aside, and returns its new name. Fails if anybody has it open, or if it has events that `copy` lacks. */
const moveAside = Effect.fnUntraced(function* (file: string, copy: string) {
  const { ReplacedFile } = yield* StorageChoice.sqlitePackage
  const aside = `${file}.before-${Files.stampOf(yield* Clock.currentTimeMillis)}`
  const unreadable = (error: unknown) => {
    const { message } = StorageChoice.failure("use", `SQLite, ${file}`, error)
    return new CommandError({
      message: `${message}. What it has cannot be compared with the backup: move it and its -wal aside, and restore again`
    })
  }
  return yield* Effect.acquireUseRelease(
    Effect.mapError(ReplacedFile.lock(file), (error) =>
      error.reason._tag === "LockTimeoutError" ? new CommandError({ message: busy(file) }) : unreadable(error)
    ),
    (locked) =>
      Effect.gen(function* () {
        const { events, lastMs } = yield* Effect.try({ try: () => locked.missingFrom(copy), catch: unreadable })
        if (lastMs !== null) return yield* refuse(lossText(file, events, lastMs))
        yield* Effect.try({ try: () => renameSync(file, aside), catch: unreadable })
        return aside
      }),
    (locked) => Effect.sync(locked.release)
  )
})

/** Restores the backup at `path` to `file`, and returns what was done in one line. */
export const restore = Effect.fnUntraced(function* (path: string, file: string, state: State) {
  yield* refuseSource(path, file)
  const log = existsSync(file) ? undefined : Files.logBeside(file)
  if (log !== undefined) {
    return yield* refuse(`${log} is there without its file, and may have events: move it aside, and restore again`)
  }
  const { Backup } = yield* StorageChoice.sqlitePackage
  const counts = new Verifier.Counts()
  let aside: string | undefined
  let isVerified = false
  yield* Files.whole(file, (partial) =>
    Effect.gen(function* () {
      state.text = `Copying ${path}`
      yield* Effect.mapError(Backup.duplicate(path, partial), (error) =>
        StorageChoice.failure("restore", `SQLite, ${path}`, error)
      )
      const progress = Effect.sync(() => void (state.text = VerifyReport.progressText(counts, undefined)))
      isVerified = yield* Effect.mapError(
        check(partial, counts, (step) => Effect.andThen(progress, step)),
        (error) => {
          const { message } =
            error instanceof CommandError ? error : StorageChoice.failure("use", `SQLite, ${path}`, error)
          return new CommandError({
            message: `Cannot restore ${path}: ${message.replaceAll(partial, path)}. Nothing was changed`
          })
        }
      )
      if (existsSync(file)) aside = yield* moveAside(file, partial)
      // What processes that only read have left: it belongs to the former file, and is empty.
      Files.removeCompanions(file)
      return file
    })
  ).pipe(
    // The copy could not get its name.
    Effect.tapError(() => Effect.sync(() => aside !== undefined && !existsSync(file) && renameSync(aside, file)))
  )
  const before = aside === undefined ? "" : ` What was there is ${aside}.`
  const what = isVerified
    ? VerifyReport.text.summary(counts, true)
    : "Its events are of an earlier version, and were not read: tachograph migrate, then tachograph verify"
  return `Restored ${path} to ${file}.${before} ${what}`
})
