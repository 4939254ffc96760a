import { StorageSuite } from "@tachograph/testkit"
import { expect, it } from "vitest"
import { sqlite } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

StorageSuite.run("SQLite", () => sqlite(temporaryFile()))

it.each(["", undefined])("rejects the path %j", (filename) => {
  expect(() => sqlite(filename as string)).toThrow(new TypeError("Expected the path of a file for SQLite"))
})
