import { StorageSuite } from "@tachograph/testkit"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

StorageSuite.run("Postgres", () => PostgresStorage.layer(freshSchema()))
