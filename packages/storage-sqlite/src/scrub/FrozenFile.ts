/**
 * Keeps the database file as it is while other connections commit to the write-ahead log, so that it can be read and its unused
 * bytes can be written past SQLite. Nothing waits for it.
 *
 * A connection with an open snapshot (a pin) keeps every process from copying later frames of the log into the file, and from
 * starting the log anew. If all frames up to the snapshot have been copied when it is open, the file is not written, and no
 * frame escapes `advance`. https://sqlite.org/wal.html
 */
import { DatabaseSync } from "node:sqlite"
import * as SetAside from "../file/SetAside.ts"
import { LogFrames } from "./LogFrames.ts"

/** Milliseconds for which a connection waits for a lock, which blocks the thread. */
const lockWaitMs = 2

interface Checkpoint {
  readonly busy: number
  /** Frames in the log, and how many of them are in the file. -1 without a log. */
  readonly log: number
  readonly checkpointed: number
}

export class FrozenFile {
  readonly #connections: readonly [DatabaseSync, DatabaseSync]
  readonly #frames: LogFrames
  readonly #path: string
  #pinned: 0 | 1 | undefined
  readonly pageBytes: number
  /** Pages of the file at the last `advance`. */
  pages = 0

  constructor(path: string) {
    this.#path = path
    const open = () => new DatabaseSync(path, { timeout: lockWaitMs })
    this.#connections = [open(), open()]
    const [{ page_size }] = this.#connections[0].prepare("PRAGMA page_size").all() as [{ readonly page_size: number }]
    this.pageBytes = page_size
    this.#frames = new LogFrames(`${path}-wal`, page_size)
  }

  close(): void {
    for (const connection of this.#connections) SetAside.close(connection, this.#path)
  }

  /**
   * Freezes the file at the last commit, from an earlier one if it was frozen. Returns the pages that were committed since
   * then, or more. Returns `undefined` if the file is not frozen, because another connection holds an older snapshot or copies
   * frames at this moment: call it again before the file is written.
   */
  advance(): ReadonlySet<number> | undefined {
    const next = this.#pinned === 0 ? 1 : 0
    const pin = this.#connections[next]
    const other = this.#connections[1 - next]!
    pin.exec("BEGIN")
    try {
      // The first read opens the snapshot.
      const [count] = pin.prepare("PRAGMA page_count").all() as [{ readonly page_count: number }]
      this.pages = count.page_count
      if (this.#pinned !== undefined) other.exec("ROLLBACK")
      this.#pinned = next
    } catch (error) {
      if (pin.isTransaction && this.#pinned !== next) pin.exec("ROLLBACK")
      throw error
    }
    const [{ busy, checkpointed, log }] = other.prepare("PRAGMA wal_checkpoint(PASSIVE)").all() as unknown as [
      Checkpoint
    ]
    // While another connection copies frames, the size of the log is not known.
    if (busy !== 0) return undefined
    if (log < 0) throw new Error("The file has no write-ahead log")
    return log === checkpointed ? this.#frames.read(log) : undefined
  }
}
