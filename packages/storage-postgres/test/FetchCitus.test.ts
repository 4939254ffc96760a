import { createTachograph } from "@tachograph/router"
import { HttpSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { PostgresStorage } from "../src/index.ts"
import { citusUrl, distributedSchema, skip } from "./CitusSchema.ts"

if (citusUrl === undefined) skip("HttpSuite")
else {
  const emptySchema = distributedSchema(citusUrl)
  HttpSuite.run("fetch, Citus", {
    storage: () => Layer.unwrap(Effect.map(Effect.promise(emptySchema), (schema) => PostgresStorage.layer(schema))),
    serve: (storage, limits) => createTachograph({ storage, ...limits })
  })
}
