/**
 * The pages of a database file as they were when a transaction began, past SQLite, which refuses to read malformed ones. What the
 * transaction writes goes to the log, so that these stay as they are.
 */
import { readSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"

/** https://sqlite.org/fileformat2.html#the_database_header */
const header = { firstTrunk: 32, reservedBytes: 20 }

/** SQLite stores nothing in the page with this byte: https://sqlite.org/fileformat2.html#the_lock_byte_page */
const lockByte = 2 ** 30

/** A reader, such as a backup or a scrub, uses an older state of the file, and keeps it from being brought up to date. */
export class Busy extends Error {
  override readonly name = "Busy"
}

export class PageFile {
  readonly #descriptor: number
  readonly pageBytes: number
  readonly pages: number

  constructor(descriptor: number, pageBytes: number, pages: number) {
    this.#descriptor = descriptor
    this.pageBytes = pageBytes
    this.pages = pages
  }

  /** A page whose number is one of the file. What is beyond the end of the file is zeros. */
  read(page: number): Buffer {
    const bytes = Buffer.allocUnsafe(this.pageBytes)
    return bytes.fill(0, readSync(this.#descriptor, bytes, 0, this.pageBytes, (page - 1) * this.pageBytes))
  }

  /** Whether something can be stored in a page. Not in the first one, which begins with the header of the file. */
  has(page: number): boolean {
    return page >= 2 && page <= this.pages && page !== Math.floor(lockByte / this.pageBytes) + 1
  }

  /** The pages that nothing is stored in, as far as their list leads: https://sqlite.org/fileformat2.html#the_freelist */
  *free(): Generator<number> {
    const seen = new Set<number>()
    for (let trunk = this.read(1).readUInt32BE(header.firstTrunk); this.has(trunk) && !seen.has(trunk);) {
      seen.add(trunk)
      yield trunk
      const bytes = this.read(trunk)
      const leaves = Math.min(bytes.readUInt32BE(4), this.pageBytes / 4 - 2)
      for (let n = 0; n < leaves; n++) {
        const leaf = bytes.readUInt32BE(8 + 4 * n)
        if (this.has(leaf)) yield leaf
      }
      trunk = bytes.readUInt32BE(0)
    }
  }
}

interface Checkpoint {
  readonly busy: number
  readonly log: number
  readonly checkpointed: number
}

/** Copies what was committed into the file, in which nobody else writes while the caller's transaction has the lock. Throws `Busy`. */
export const open = (database: DatabaseSync, path: string, descriptor: number): PageFile => {
  const [{ page_size }] = database.prepare("PRAGMA page_size").all() as [{ page_size: number }]
  const [{ page_count }] = database.prepare("PRAGMA page_count").all() as [{ page_count: number }]
  const other = new DatabaseSync(path)
  try {
    const [{ busy, checkpointed, log }] = other.prepare("PRAGMA wal_checkpoint(PASSIVE)").all() as unknown as [
      Checkpoint
    ]
    if (busy !== 0 || log !== checkpointed) throw new Busy("A reader uses an older state of the file")
  } finally {
    other.close()
  }
  const file = new PageFile(descriptor, page_size, page_count)
  if (file.read(1)[header.reservedBytes] !== 0) throw new Error("The file has reserved bytes")
  return file
}
