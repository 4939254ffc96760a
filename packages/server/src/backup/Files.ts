/** Files of backups: where one grows, how it gets its name, and which of them the server made. */
import * as Effect from "effect/Effect"
import { existsSync, linkSync, readdirSync, renameSync, rmSync, statSync, unlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import * as StorageChoice from "../config/StorageChoice.ts"
import { CommandError } from "../terminal/CliErrors.ts"

/** What SQLite may have left beside a file. */
const companions = ["-wal", "-shm", "-journal"]

export const removeCompanions = (path: string): void => {
  for (const ending of companions) rmSync(path + ending, { force: true })
}

const remove = (path: string): void => {
  rmSync(path, { force: true })
  removeCompanions(path)
}

/** The name of a log with content beside a file: what it has is not in the file. */
export const logBeside = (path: string): string | undefined =>
  companions
    .filter((ending) => ending !== "-shm")
    .map((ending) => path + ending)
    .find((log) => (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0)

/** Gives a file a name that no file has. */
const name = (from: string, to: string): void => {
  try {
    // Unlike renaming, it fails where a file has come to be.
    linkSync(from, to)
  } catch (error) {
    // Some file systems have no links.
    if (existsSync(to)) throw error
    return renameSync(from, to)
  }
  unlinkSync(from)
}

/**
 * Makes a file that appears under its name when it is whole. `make` gets the path where it grows, and returns the name that it gets in
 * the end. Nothing is left if it fails.
 */
export const whole = <E, R>(
  path: string,
  make: (partial: string) => Effect.Effect<string, E, R>
): Effect.Effect<void, CommandError | E, R> =>
  Effect.suspend(() => {
    const partial = `${path}.partial`
    if (existsSync(partial)) {
      const message = `${partial} is there: remove it, unless another command is writing it just now`
      return Effect.fail(new CommandError({ message }))
    }
    return Effect.gen(function* () {
      const made = yield* make(partial)
      const { Backup } = yield* StorageChoice.sqlitePackage
      yield* Effect.try({
        try: () => {
          name(partial, made)
          Backup.flush(dirname(path))
        },
        catch: (error) => new CommandError({ message: `Cannot make the file ${made}: ${(error as Error).message}` })
      })
    }).pipe(Effect.ensuring(Effect.sync(() => remove(partial))))
  })

/** `tachograph-20260131T103000Z.db`, and what is wrong with one that does not end so. */
const ownName = /^tachograph-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db(?:|\.(damaged)|\.(partial)(?:-\w+)?)$/

/** A time in the name of a file: `20260131T103000Z`. */
export const stampOf = (timeMs: number): string => new Date(timeMs).toISOString().replaceAll(/[-:]|\.\d+/g, "")

/** The name of a backup that the server makes at a time. */
export const nameAt = (timeMs: number): string => `tachograph-${stampOf(timeMs)}.db`

/** The files that the server made in a folder, the oldest first. */
const ownFiles = (folder: string) =>
  readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const [, year, month, day, hour, minute, second, damaged, partial] = ownName.exec(file) ?? []
      if (year === undefined) return []
      const timeMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
      return [{ file, timeMs, state: damaged ?? partial ?? "whole" }]
    })

/** When the server made its last backup in a folder (ms); undefined if there is none. */
export const lastOwn = (folder: string): number | undefined =>
  ownFiles(folder).findLast(({ state }) => state === "whole")?.timeMs

/**
 * Removes, of the files that the server made in a folder, all backups but the last ones, all damaged copies but the last one, and
 * what an interrupted backup has left.
 */
export const rotate = (folder: string, keep: number): void => {
  const kept: Readonly<Record<string, number>> = { whole: keep, damaged: 1, partial: 0 }
  const files = ownFiles(folder)
  for (const [state, count] of Object.entries(kept)) {
    const same = files.filter((each) => each.state === state)
    for (const { file } of same.slice(0, Math.max(0, same.length - count))) rmSync(join(folder, file), { force: true })
  }
}
