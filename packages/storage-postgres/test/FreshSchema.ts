import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import type { PostgresConfig } from "../src/index.ts"

/** A new schema in the test run's database. */
export const freshSchema = (): PostgresConfig => ({
  url: inject("postgresUrl"),
  schema: `test_${randomBytes(8).toString("hex")}`,
  maxConnections: 5
})
