/** The files of a database. */
import { closeSync, existsSync, fchmodSync, openSync } from "node:fs"

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
const isPath = (filename: string): boolean =>
  filename !== "" && filename !== ":memory:" && !filename.startsWith("file:")
