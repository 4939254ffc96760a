import { createTachograph } from "@tachograph/router"
import { HttpSuite } from "@tachograph/testkit"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

HttpSuite.run("fetch, Postgres", {
  storage: () => PostgresStorage.layer(freshSchema()),
  serve: (storage, limits) => createTachograph({ storage, ...limits })
})
