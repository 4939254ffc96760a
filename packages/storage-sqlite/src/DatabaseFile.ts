/** The files of an open database: whether their paths still lead to them. */
import { closeSync, existsSync, fchmodSync, openSync, statSync } from "node:fs"
import { resolve } from "node:path"
import type { DatabaseSync } from "node:sqlite"

/** Only the owner may read what was recorded. SQLite gives the log and its index the mode of the database. */
const mode = 0o600

/** Creates the file with this mode, whatever the umask. Leaves an existing file alone, and errors to SQLite. */
export const create = (filename: string): void => {
  if (!isPath(filename) || existsSync(filename)) return
  let descriptor: number
  try {
    // Follows a symbolic link to a file that does not exist.
    descriptor = openSync(filename, "a", mode)
  } catch {
    return
  }
  // Closing a descriptor releases all locks of the process on its file. No connection has this one open yet.
  try {
    fchmodSync(descriptor, mode)
  } finally {
    closeSync(descriptor)
  }
}

/** SQLite takes an empty name for a temporary file, and reads URIs. */
export const isPath = (filename: string): boolean =>
  filename !== "" && filename !== ":memory:" && !filename.startsWith("file:")

export class FileReplaced extends Error {
  override readonly name = "FileReplaced"
}

interface Identity {
  readonly dev: bigint
  readonly ino: bigint
}

const identityOf = (path: string): Identity | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })

/** Throws if a path of an open database leads to nothing, or to another file: what is written would be lost. */
export type Verify = () => void

/** Takes the files that the paths lead to now for those that are open. */
export const makeVerify = (database: DatabaseSync, filename: string): Verify => {
  const location = database.location()
  // A database in memory or in a temporary file.
  if (location === null || location === "") return () => {}
  // Opens the log and its index, which then exist as long as a connection is open.
  database.exec("PRAGMA user_version")
  const files = new Map<string, Identity>()
  // The log is beside the file that a symbolic link leads to.
  for (const path of [isPath(filename) ? resolve(filename) : location, `${location}-wal`, `${location}-shm`]) {
    const opened = identityOf(path)
    if (opened !== undefined) files.set(path, opened)
  }
  return () => {
    for (const [path, opened] of files) {
      const found = identityOf(path)
      if (found?.ino === opened.ino && found.dev === opened.dev) continue
      throw new FileReplaced(
        `${path} was ${found === undefined ? "removed" : "replaced"} while it was open. Put it back, or restart to open what is there`
      )
    }
  }
}
