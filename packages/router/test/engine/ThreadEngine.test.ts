import { sqlite } from "@tachograph/storage-sqlite"
import { HttpSuite } from "@tachograph/testkit"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { createTachograph } from "../../src/index.ts"

const folder = mkdtempSync(join(tmpdir(), "tachograph-thread-"))
afterAll(() => rmSync(folder, { recursive: true }))
const filename = join(folder, "thread.db")

HttpSuite.run("fetch, SQLite on a thread of its own", {
  storage: () => sqlite(filename),
  serve: (_storage, limits) => createTachograph({ storage: sqlite(filename), ...limits }),
  tag: "storage"
})
