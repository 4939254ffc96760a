/**
 * Closes connections to a file that was changed past SQLite. The last connection that is closed copies the log into the file, unless
 * its path leads elsewhere at that moment, which is why the file is moved away for so long.
 */
import { renameSync, rmSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { FileReplaced } from "./FileReplaced.ts"

/** Files that are not what SQLite takes them for. */
const changed = new Set<string>()

const moved = (from: string, to: string): boolean => {
  try {
    renameSync(from, to)
    return true
  } catch {
    return false
  }
}

/** Closes a connection. Use this for all that may be the last one. */
export const close = (database: DatabaseSync, path: string): void => {
  if (!database.isOpen) return
  if (!changed.has(path)) return database.close()
  const away = `${path}-closing`
  // It is away already if it was removed, or if another thread closes a connection at this moment.
  const isMoved = moved(path, away)
  try {
    database.close()
  } finally {
    if (isMoved) renameSync(away, path)
  }
}

/** Closes the connection and keeps its log, under another name. Returns what to say about it. */
export const closeAndSetAside = (database: DatabaseSync, path: string): FileReplaced => {
  changed.add(path)
  close(database, path)
  const saved = `${path}-wal-saved-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "")}`
  const isSaved = moved(`${path}-wal`, saved)
  // An index without its log misleads the next process.
  if (isSaved) rmSync(`${path}-shm`, { force: true })
  return new FileReplaced(
    `${path} was changed by another program while it was open, as by a copy over it. Nothing is written into it any more. ` +
      (isSaved ? `What was recorded since the last checkpoint is in ${saved}: keep it. ` : "") +
      "Stop the server, put the file that you want in place, and start it again"
  )
}
