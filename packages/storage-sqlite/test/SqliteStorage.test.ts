import { StorageSuite } from "@tachograph/testkit"
import { expect, it } from "vitest"
import { sqlite } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

StorageSuite.run("SQLite", () => sqlite(temporaryFile()))

it.each(["", undefined])("%j is no path", (filename) => {
  expect(() => sqlite(filename as string)).toThrow(new TypeError("Expected the path of a file for SQLite"))
})
