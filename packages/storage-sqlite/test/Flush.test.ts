import { Effect, Exit } from "effect"
import { closeSync, openSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { expect, it } from "vitest"
import * as DatabaseFile from "../src/file/DatabaseFile.ts"
import { SqliteConnection } from "../src/SqliteConnection.ts"
import { temporaryFile } from "./TemporaryFile.ts"

it("commits nothing behind what the disk did not take, before all of it is in the file", async () => {
  const file = temporaryFile()
  const database = new DatabaseSync(file)
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")
  database.exec("CREATE TABLE rows (n INTEGER PRIMARY KEY)")
  const files = DatabaseFile.open(database, file, false)
  // A device that cannot be flushed.
  const broken = openSync("/dev/null", "r")
  let log: number | undefined = broken
  const connection = new SqliteConnection(database, 0, {
    ...files,
    get log() {
      return log
    }
  })
  const insert = (n: number) => connection.transactAtOnce((run) => run("INSERT INTO rows VALUES (?)", [n]), true)
  const flushed = (n: number) => Effect.runPromise(Effect.exit(insert(n)!.onDisk!))
  const others = new DatabaseSync(file)
  const copied = () => others.prepare("PRAGMA wal_checkpoint(NOOP)").get()

  const first = insert(1)!
  log = files.log
  const both = [first, insert(2)!].map(({ onDisk }) => Effect.runPromise(Effect.exit(onDisk!)))
  // The second can be flushed, but is behind the first.
  expect((await Promise.all(both)).map(Exit.isFailure)).toEqual([true, true])
  // While others read the log, it cannot begin anew.
  others.exec("BEGIN")
  others.prepare("SELECT * FROM rows").all()
  expect(insert(3)).toBeUndefined()
  others.exec("COMMIT")
  expect(await flushed(4)).toEqual(Exit.succeed(undefined))
  // The log has but the last transaction.
  const { checkpointed, log: frames } = copied() as { readonly checkpointed: number; readonly log: number }
  expect({ checkpointed, isShort: frames <= 3 }).toEqual({ checkpointed: 0, isShort: true })
  expect(others.prepare("SELECT n FROM rows").all()).toEqual([{ n: 1 }, { n: 2 }, { n: 4 }])
  others.close()
  files.close()
  closeSync(broken)
})
