import { existsSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { expect, it } from "vitest"
import * as SetAside from "../../src/file/SetAside.ts"
import { temporaryFile } from "../TemporaryFile.ts"

it("closes a connection to a file that was changed and then removed, and keeps its log", () => {
  const path = temporaryFile()
  const database = new DatabaseSync(path)
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE notes (text TEXT)")
  rmSync(path)
  const { message } = SetAside.closeAndSetAside(database, path)
  expect(database.isOpen).toBe(false)
  const [, saved = ""] = /is in (\S+): keep it/.exec(message) ?? []
  expect(existsSync(saved)).toBe(true)
  expect(existsSync(path)).toBe(false)
})
