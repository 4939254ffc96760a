import { sqlite } from "@tachograph/storage-sqlite"
import { HttpSuite } from "@tachograph/testkit"
import { createTachograph } from "../src/index.ts"

HttpSuite.run("fetch, SQLite", {
  storage: () => sqlite(":memory:"),
  serve: (storage, limits) => createTachograph({ storage, ...limits })
})
