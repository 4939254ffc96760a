import { VerifySuite } from "@tachograph/testkit"
import { Layer } from "effect"
import { sqlite, SqliteClient } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

VerifySuite.run("SQLite", () => {
  const filename = temporaryFile()
  return Layer.merge(sqlite(filename), SqliteClient.layer({ filename }))
})
