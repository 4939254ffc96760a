import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import type { PostgresConfig } from "../src/index.ts"

/** A schema of its own in the run's database. */
export const freshSchema = (): PostgresConfig => ({
  url: inject("postgresUrl"),
  schema: `test_${randomBytes(8).toString("hex")}`,
  maxConnections: 5
})
