/** The files of an open database: whether their paths still lead to them, and whether they are what SQLite takes them for. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  openSync,
  realpathSync,
  type Stats,
  statSync
} from "node:fs"
import { dirname, resolve } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import * as Descriptor from "./Descriptor.ts"
import { FileReplaced } from "./FileReplaced.ts"
import * as Header from "./Header.ts"
import { frameHeaderBytes, logHeaderBytes } from "./LogHeaders.ts"
import { belongs, holdsAtLast, type LogState, MainFile } from "./MainFile.ts"
import * as SetAside from "./SetAside.ts"

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

const kindOf = (found: Stats): string => {
  if (found.isDirectory()) return "a folder"
  return found.isFIFO() ? "a FIFO" : "a device or a socket"
}

/** Throws if a path leads to something that is no file, which SQLite would wait for. */
export const refuseOther = (filename: string): void => {
  const found = isPath(filename) ? statSync(filename, { throwIfNoEntry: false }) : undefined
  if (found === undefined || found.isFile()) return
  throw new FileReplaced(`${filename} is ${kindOf(found)}. Name a file, which is created if it does not exist`)
}

const canWrite = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * What SQLite opens to read a file. Where nothing can be written, as on a read-only medium, it cannot make the index of a log, and
 * needs to be told that the file does not change. Throws if there is a log: its index would have to be made.
 */
export const readOnlyName = (filename: string): string => {
  if (!isPath(filename) || !existsSync(filename)) return filename
  const path = realpathSync(filename)
  if (canWrite(dirname(path))) return filename
  const log = `${path}-wal`
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) return `${pathToFileURL(path).href}?immutable=1`
  if (existsSync(`${path}-shm`)) return filename
  throw new FileReplaced(
    `${log} has a part of what was recorded, and cannot be read where nothing can be written. Copy ${path} and ${log} to a folder that can be written`
  )
}

/**
 * Throws if there is a log that does not belong to the file: SQLite would write it over the file. To be called before the connection
 * reads anything.
 */
export const refuseForeignLog = (database: DatabaseSync): void => {
  const path = database.location()
  const log = `${path}-wal`
  if (path === null || path === "" || (statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const read = Descriptor.reader(statSync(path, { bigint: true }), Header.headerBytes)
  // No locks are on the log, so closing it releases none.
  const descriptor = openSync(log, "r")
  try {
    const isRight = holdsAtLast(() => {
      const file = read()
      return file === undefined || belongs(file.first, descriptor)
    })
    if (isRight) return
  } finally {
    closeSync(descriptor)
  }
  throw new FileReplaced(
    `${log} does not belong to ${path}, which was probably copied over after a process was killed. ` +
      `Nothing was changed. To go on with the file as it is, move ${log} and ${path}-shm away; ` +
      "to go on with what was recorded, put the former file back"
  )
}

interface Identity {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
}

const identityOf = (path: string): Identity | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })

export interface OpenFiles {
  /** Throws if a path of an open database leads to nothing, or to another file, or the log was truncated: what was written is lost. */
  readonly verify: () => void
  /**
   * Throws if the log was truncated past SQLite since it was looked at last: what was committed is gone then. Call it before what
   * writes, which would make the log long again, and not in a transaction.
   */
  readonly verifyLog: () => void
  /**
   * Throws, from then on, if the file was changed past SQLite. The connection is closed then, and its log is set aside, so that
   * nothing of it is written into what is there.
   */
  readonly verifyContent: () => void
  /** The stamp of the transaction that is about to be committed; none where the file has none. */
  readonly stamp: ((stamp: number) => void) | undefined
  /** Frames in the log. */
  readonly frames: () => number
  /** A descriptor of the log; none where there is none. */
  readonly log: number | undefined
  readonly close: () => void
}

const notOpen = (database: DatabaseSync): OpenFiles => ({
  verify: () => {},
  verifyLog: () => {},
  verifyContent: () => {},
  stamp: undefined,
  frames: () => 0,
  log: undefined,
  close: () => database.close()
})

/** How often the log is compared with its index while another process empties it. */
const maxComparisons = 10

/** Takes the files that the paths lead to now for those that are open. */
export const open = (database: DatabaseSync, filename: string, readOnly: boolean): OpenFiles => {
  const location = database.location()
  // A database in memory or in a temporary file.
  if (location === null || location === "") return notOpen(database)
  // Opens the log and its index, which then exist as long as a connection is open.
  database.exec("PRAGMA user_version")
  const files = new Map<string, Identity>()
  const log = `${location}-wal`
  // The log is beside the file that a symbolic link leads to.
  for (const path of [isPath(filename) ? resolve(filename) : location, log, `${location}-shm`]) {
    const opened = identityOf(path)
    if (opened !== undefined) files.set(path, opened)
  }
  // Without a log there is nothing that a connection could not read again.
  if (!files.has(log)) return notOpen(database)
  // For writing too, because some systems flush no other descriptor.
  const logDescriptor = openSync(log, readOnly ? "r" : "r+")
  const [{ page_size: pageBytes }] = database.prepare("PRAGMA page_size").all() as [{ page_size: number }]
  const checkpoint = database.prepare("PRAGMA wal_checkpoint(NOOP)")
  const dataVersion = database.prepare("PRAGMA data_version")
  const logState = (): LogState | undefined => {
    if (database.isTransaction) return undefined
    const { checkpointed, log } = checkpoint.get() as { readonly log: number; readonly checkpointed: number }
    return { frames: log, copied: checkpointed }
  }
  const main = new MainFile(location, pageBytes, logDescriptor, {
    logState,
    dataVersion: () => (dataVersion.get() as { readonly data_version: number }).data_version
  })
  let lost: FileReplaced | undefined

  const sizeOfLog = () => statSync(log, { throwIfNoEntry: false })?.size ?? 0
  /** Bytes that the log has at least, by its index, which every process that empties it changes first. */
  const committedBytes = (): number => {
    const committed = logState()?.frames ?? 0
    return committed <= 0 ? 0 : logHeaderBytes + committed * (frameHeaderBytes + pageBytes)
  }
  let knownBytes = sizeOfLog()

  /** `found` is its size. */
  const checkLog = (found: number): void => {
    // Whatever shortens it: a checkpoint does, when all that is in it has been copied to the database.
    for (let left = maxComparisons, bytes = found; left > 0; left--, bytes = sizeOfLog()) {
      if (bytes < knownBytes && bytes < committedBytes()) continue
      knownBytes = bytes
      return
    }
    throw new FileReplaced(
      `${log} was truncated while it was open: what was committed since it was last copied to the database is lost. ` +
        "Restore a backup, or restart to go on with what is there"
    )
  }

  const verifyContent = () => {
    if (lost !== undefined) throw lost
    if (main.isRight()) return
    lost = SetAside.closeAndSetAside(database, location)
    throw lost
  }

  return {
    frames: () => logState()?.frames ?? 0,
    log: logDescriptor,
    verifyContent,
    stamp: main.stamp.bind(main),
    verify: () => {
      if (lost !== undefined) throw lost
      for (const [path, opened] of files) {
        const found = identityOf(path)
        if (found?.ino === opened.ino && found.dev === opened.dev) {
          if (path === log) checkLog(Number(found.size))
          continue
        }
        throw new FileReplaced(
          `${path} was ${found === undefined ? "removed" : "replaced"} while it was open. Put it back, or restart to open what is there`
        )
      }
      verifyContent()
    },
    verifyLog: () => {
      if (lost !== undefined) throw lost
      checkLog(sizeOfLog())
      verifyContent()
    },
    close: () => {
      try {
        verifyContent()
      } catch {
        // It has been closed, or cannot be looked at.
      }
      closeSync(logDescriptor)
      SetAside.close(database, location)
    }
  }
}
