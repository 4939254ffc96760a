import { RepairSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

RepairSuite.run("Postgres", () => {
  const config = freshSchema()
  // The client is opened after the tables exist.
  const client = Layer.unwrap(Effect.as(PostgresStorage.migrate(config), PostgresStorage.client(config)))
  return Layer.merge(PostgresStorage.layer(config), client)
})
