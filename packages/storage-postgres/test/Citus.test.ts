import { StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { PostgresStorage } from "../src/index.ts"
import { citusUrl, distributedSchema, skip } from "./CitusSchema.ts"

if (citusUrl === undefined) skip("StorageSuite")
else {
  const emptySchema = distributedSchema(citusUrl)
  const emptyStorage = () =>
    Layer.unwrap(Effect.map(Effect.promise(emptySchema), (schema) => PostgresStorage.layer(schema)))
  StorageSuite.run("Citus", emptyStorage)
}
