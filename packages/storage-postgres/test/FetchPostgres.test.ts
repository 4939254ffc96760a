import { createTachograph } from "@tachograph/router"
import { HttpSuite } from "@tachograph/testkit"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

HttpSuite.run("fetch, Postgres", {
  // The timeout (ms) is long, because the test must not fail on a busy machine.
  storage: () => PostgresStorage.layer({ ...freshSchema(), operationTimeout: 120_000 }),
  serve: (storage, limits) => createTachograph({ storage, ...limits }),
  tag: "storage"
})
