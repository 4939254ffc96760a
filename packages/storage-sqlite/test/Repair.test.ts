import { RepairSuite } from "@tachograph/testkit"
import { Layer } from "effect"
import { sqlite, SqliteClient } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

RepairSuite.run("SQLite", () => {
  const filename = temporaryFile()
  return Layer.merge(sqlite(filename), SqliteClient.layer({ filename }))
})
