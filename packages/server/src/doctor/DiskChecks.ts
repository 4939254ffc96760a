/** The disk that holds a file of SQLite. */
import * as Effect from "effect/Effect"
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Bytes from "../terminal/Bytes.ts"
import type { StorageChoice } from "../config/StorageChoice.ts"
import { type Check, type Finding, ok, problem, warning } from "./Check.ts"

/** Below this (bytes) a day of agents may fill the disk. */
const enoughSpace = 1024 ** 3

/** Below this (bytes) the next events may be refused. */
const leastSpace = 64 * 1024 ** 2

/** Why a file or folder cannot be used, by the words of the system: `EROFS`, `ENOSPC`. */
const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)

const space = (folder: string): Check => ({
  name: "disk space",
  look: Effect.sync((): Finding => {
    const { bavail, blocks, bsize } = statfsSync(folder)
    const says = `${Bytes.format(bavail * bsize)} of ${Bytes.format(blocks * bsize)} are free in ${folder}`
    if (bavail * bsize >= enoughSpace) return ok(says)
    const mend = "make room: move the file to a larger disk, or keep events for a shorter time (--retain)"
    return (bavail * bsize < leastSpace ? problem : warning)(says, mend, "operate.md#a-full-disk")
  }).pipe(Effect.catchDefect((error) => Effect.succeed(noFolder(folder, error))))
})

const noFolder = (folder: string, error: unknown): Finding =>
  problem(
    `${folder} cannot be used (${codeOf(error)})`,
    "create the folder, for the user that serves",
    "operate.md#disk"
  )

/** How often a commit's wait is measured, and how much is written each time (bytes): a small commit's pages in the log. */
const syncs = 20
const syncedBytes = 16 * 1024

/** From here on (ms) a server with one client records less than ten events a second. */
const slowSyncMs = 100

/** The times of `syncs` writes in a new file beside the database, in ascending order (ms). */
const syncTimes = (folder: string): ReadonlyArray<number> => {
  const path = join(folder, `.tachograph-doctor-${process.pid}`)
  const file = openSync(path, "wx", 0o600)
  try {
    const block = Buffer.alloc(syncedBytes, 1)
    return Array.from({ length: syncs }, () => {
      const start = performance.now()
      writeSync(file, block)
      fsyncSync(file)
      return performance.now() - start
    }).sort((a, b) => a - b)
  } finally {
    closeSync(file)
    rmSync(path, { force: true })
  }
}

const sync = (folder: string): Check => ({
  name: "disk sync",
  look: Effect.sync((): Finding => {
    let times: ReadonlyArray<number>
    try {
      times = syncTimes(folder)
    } catch (error) {
      const mend =
        "SQLite needs a log beside its file: let the user that serves write in the folder, and see that the disk has room"
      return problem(`${folder} cannot be written (${codeOf(error)})`, mend, "operate.md#disk")
    }
    const median = times[syncs / 2]!
    const says = `a write is on the disk after ${median.toFixed(1)} ms (median of ${syncs}; the slowest ${times.at(-1)!.toFixed(1)} ms)`
    if (median < slowSyncMs) return ok(says)
    return warning(says, "each commit waits for that: use a local disk, no network file system", "operate.md#disk")
  })
})

/** The log is copied into the file as it grows; a much larger one (bytes) has a reader that never ends. */
const longLog = 256 * 1024 ** 2

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const file = (filename: string): Check => ({
  name: "file",
  look: Effect.sync(() => {
    const { mode, size } = statSync(filename)
    const log = sizeOf(`${filename}-wal`)
    const says = `${Bytes.format(size)}, and ${Bytes.format(log)} of log`
    // Windows has no such rights.
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      const rights = (mode & 0o777).toString(8).padStart(4, "0")
      return problem(
        `${says}; its mode is ${rights}`,
        `others may read what was recorded: chmod 600 '${filename}'`,
        "operate.md#disk"
      )
    }
    if (log < longLog) return ok(`${says}; only its user may read it`)
    return warning(says, "something reads without end, such as a backup that hangs: end it", "operate.md#disk")
  }).pipe(Effect.catchDefect((error) => Effect.succeed(unreadable(filename, error))))
})

const unreadable = (filename: string, error: unknown): Finding =>
  problem(
    `it cannot be looked at (${codeOf(error)})`,
    `let the user that serves read and write ${filename}`,
    "operate.md#disk"
  )

/** `filename` is that of a file that exists, or of one that the first start will make. */
export const of = (filename: string, choice: StorageChoice): ReadonlyArray<Check> => {
  const folder = dirname(filename)
  const ofFolder = [space(folder), sync(folder)]
  return choice.exists() ? [file(filename), ...ofFolder] : ofFolder
}
