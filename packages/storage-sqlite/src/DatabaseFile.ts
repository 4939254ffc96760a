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
  readonly size: bigint
}

const identityOf = (path: string): Identity | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })

export interface OpenFiles {
  /** Throws if a path of an open database leads to nothing, or to another file: what is written would be lost. */
  readonly verify: () => void
  /**
   * Throws if the log was truncated past SQLite since it was looked at last: what was committed is gone then. Call it before what
   * writes, which would make the log long again, and not in a transaction.
   */
  readonly verifyLog: () => void
}

const notOpen: OpenFiles = { verify: () => {}, verifyLog: () => {} }

/** Bytes of the header of the log, and of the header of each page in it: https://sqlite.org/fileformat2.html#wal_file_format */
const logHeaderBytes = 32
const frameHeaderBytes = 24

/** How often the log is compared with its index while another process empties it. */
const maxComparisons = 10

/** Takes the files that the paths lead to now for those that are open. */
export const open = (database: DatabaseSync, filename: string): OpenFiles => {
  const location = database.location()
  // A database in memory or in a temporary file.
  if (location === null || location === "") return notOpen
  // Opens the log and its index, which then exist as long as a connection is open.
  database.exec("PRAGMA user_version")
  const files = new Map<string, Identity>()
  const log = `${location}-wal`
  // The log is beside the file that a symbolic link leads to.
  for (const path of [isPath(filename) ? resolve(filename) : location, log, `${location}-shm`]) {
    const opened = identityOf(path)
    if (opened !== undefined) files.set(path, opened)
  }

  const sizeOfLog = () => statSync(log, { throwIfNoEntry: false })?.size ?? 0
  /** Bytes that the log has at least, by its index, which every process that empties it changes first. */
  const committedBytes = (): number => {
    const [{ page_size }] = database.prepare("PRAGMA page_size").all() as [{ page_size: number }]
    const [{ log: frames }] = database.prepare("PRAGMA wal_checkpoint(NOOP)").all() as [{ log: number }]
    return frames <= 0 ? 0 : logHeaderBytes + frames * (frameHeaderBytes + page_size)
  }
  let knownBytes = sizeOfLog()

  return {
    verify: () => {
      for (const [path, opened] of files) {
        const found = identityOf(path)
        if (found?.ino === opened.ino && found.dev === opened.dev) {
          if (path === log) knownBytes = Math.max(knownBytes, Number(found.size))
          continue
        }
        throw new FileReplaced(
          `${path} was ${found === undefined ? "removed" : "replaced"} while it was open. Put it back, or restart to open what is there`
        )
      }
    },
    verifyLog: () => {
      // Whatever shortens it: a checkpoint does, when all that is in it has been copied to the database.
      for (let left = maxComparisons; left > 0; left--) {
        const bytes = sizeOfLog()
        if (bytes >= knownBytes || bytes >= committedBytes()) {
          knownBytes = bytes
          return
        }
      }
      throw new FileReplaced(
        `${log} was truncated while it was open: what was committed since it was last copied to the database is lost. ` +
          "Restore a backup, or restart to go on with what is there"
      )
    }
  }
}
