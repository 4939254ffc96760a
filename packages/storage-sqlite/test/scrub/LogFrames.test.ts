import { DatabaseSync } from "node:sqlite"
import { afterEach, describe, expect, it } from "vitest"
import { LogFrames } from "../../src/scrub/LogFrames.ts"
import { temporaryFile } from "../TemporaryFile.ts"

const opened: Array<DatabaseSync> = []
afterEach(() => {
  for (const database of opened.splice(0)) database.close()
})

const pageBytes = 4096

/** A database of rows that take a page each, with its log. */
const open = () => {
  const file = temporaryFile()
  const database = new DatabaseSync(file)
  opened.push(database)
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)"
  )
  const insert = database.prepare("INSERT INTO t VALUES (?, randomblob(3500))")
  let last = 0
  return {
    /** Commits rows in one transaction. */
    add: (rows: number) => {
      database.exec("BEGIN")
      for (let left = rows; left > 0; left--) insert.run(++last)
      database.exec("COMMIT")
    },
    pageCount: () => Number(database.prepare("PRAGMA page_count").get()!["page_count"]),
    checkpoint: (mode: "PASSIVE" | "TRUNCATE") =>
      Number(database.prepare(`PRAGMA wal_checkpoint(${mode})`).get()!["log"]),
    frames: new LogFrames(`${file}-wal`, pageBytes)
  }
}

describe("LogFrames", () => {
  it.each([1, 254, 255, 256, 257, 600])("returns each page of %i or a few more frames once", (rows) => {
    const { add, checkpoint, frames, pageCount } = open()
    add(rows)
    const log = checkpoint("PASSIVE")
    expect(Array.from(frames.read(log)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: pageCount() }, (_, index) => index + 1)
    )
    expect(frames.read(log).size).toBe(0)
  })

  it("returns the pages of the frames that were added, also after the log has started anew", () => {
    const { add, checkpoint, frames, pageCount } = open()
    add(20)
    frames.read(checkpoint("PASSIVE"))
    // All frames are in the file, so this starts the log anew, with fewer frames.
    add(1)
    expect(frames.read(checkpoint("PASSIVE"))).toContain(pageCount())
    add(40)
    const again = frames.read(checkpoint("PASSIVE"))
    expect(again).toContain(pageCount())
    expect(again.size).toBeGreaterThanOrEqual(40)
    checkpoint("TRUNCATE")
    expect(frames.read(0).size).toBe(0)
    add(3)
    expect(frames.read(checkpoint("PASSIVE"))).toContain(pageCount())
  })

  it("reads a new log from its start although it has more frames than were read of the former one", () => {
    const { add, checkpoint, frames, pageCount } = open()
    add(1)
    const former = checkpoint("PASSIVE")
    frames.read(former)
    add(30)
    const pages = frames.read(checkpoint("PASSIVE"))
    const added = Array.from({ length: 30 }, (_, index) => pageCount() - index)
    expect(added.filter((page) => !pages.has(page))).toEqual([])
  })

  it("fails if the log has fewer frames than it should, or frames of an earlier log", () => {
    const { add, checkpoint, frames } = open()
    add(20)
    const log = checkpoint("PASSIVE")
    expect(() => frames.read(log + 1)).toThrow("shorter")
    add(1)
    checkpoint("PASSIVE")
    expect(() => frames.read(log)).toThrow("earlier log")
    checkpoint("TRUNCATE")
    expect(() => frames.read(1)).toThrow("no header")
  })
})
