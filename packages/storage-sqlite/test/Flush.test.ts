import type { AtOnce } from "@tachograph/storage-sql"
import { Effect, Exit } from "effect"
import { closeSync, openSync, rmSync, truncateSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { expect, it, onTestFinished } from "vitest"
import * as DatabaseFile from "../src/file/DatabaseFile.ts"
import { SqliteConnection } from "../src/SqliteConnection.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const open = () => {
  const file = temporaryFile()
  const database = new DatabaseSync(file)
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")
  database.exec("CREATE TABLE rows (n INTEGER PRIMARY KEY)")
  const files = DatabaseFile.open(database, file, false)
  // A device that cannot be flushed.
  const broken = openSync("/dev/null", "r")
  let isBroken = true
  const connection = new SqliteConnection(database, 0, {
    ...files,
    get log() {
      return isBroken ? broken : files.log
    }
  })
  const others = new DatabaseSync(file)
  onTestFinished(() => {
    others.close()
    files.close()
    closeSync(broken)
  })
  return {
    file,
    connection,
    others,
    mend: () => {
      isBroken = false
    },
    insert: (n: number) => connection.transactAtOnce((run) => run("INSERT INTO rows VALUES (?)", [n]), true),
    logState: () =>
      others.prepare("PRAGMA wal_checkpoint(NOOP)").get() as { readonly checkpointed: number; readonly log: number },
    numbers: () =>
      others
        .prepare("SELECT n FROM rows")
        .all()
        .map(({ n }) => n)
  }
}

const exitOf = (committed: AtOnce.Committed<unknown> | undefined) => Effect.runPromise(Effect.exit(committed!.onDisk!))

it("commits nothing behind what the disk did not take, before all of it is in the file", async () => {
  const { connection, insert, logState, mend, numbers, others } = open()
  const first = insert(1)
  mend()
  // The second can be flushed, but is behind the first.
  expect((await Promise.all([exitOf(first), exitOf(insert(2))])).map(Exit.isFailure)).toEqual([true, true])
  // While others read the log, it cannot begin anew.
  others.exec("BEGIN")
  others.prepare("SELECT * FROM rows").all()
  expect(() => insert(3)).toThrow("others read what is in the log")
  expect(() => connection.verifyFlushed()).toThrow("others read what is in the log")
  others.exec("COMMIT")
  connection.verifyFlushed()
  expect(await exitOf(insert(4))).toEqual(Exit.succeed(undefined))
  // The log has but the last transaction.
  expect(logState()).toMatchObject({ checkpointed: 0 })
  expect(logState().log).toBeLessThanOrEqual(3)
  expect(numbers()).toEqual([1, 2, 4])
})

it.each([
  ["removed", (log: string) => rmSync(log)],
  ["truncated", (log: string) => truncateSync(log, 0)]
])("acknowledges nothing whose log was %s while the disk took it", async (_, change) => {
  const { file, insert, mend } = open()
  mend()
  const committed = insert(1)
  change(`${file}-wal`)
  expect(Exit.isFailure(await exitOf(committed))).toBe(true)
})

it("copies what a process has left in the log into the file", async () => {
  const { connection, insert, logState, mend } = open()
  mend()
  await exitOf(insert(1))
  expect(logState().checkpointed).toBeLessThan(logState().log)
  connection.healLeftLog()
  expect(logState().checkpointed).toBe(logState().log)
})
