import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

// Tests start programs of the tree over and over: each of their modules is compiled once.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/node", import.meta.url))

const postgres = [
  "packages/storage-postgres/test/**/*.test.ts",
  "packages/{server,fault-injection}/test/postgres/**/*.test.ts"
]

export default defineConfig({
  test: {
    // Many tests wait for processes and for time to pass. That one of them takes long says nothing of it; that it never ends, does.
    maxWorkers: 4,
    projects: [
      {
        test: {
          name: "tree",
          include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts", "examples/*/test/**/*.test.ts"],
          exclude: postgres,
          testTimeout: 120_000,
          hookTimeout: 120_000
        }
      },
      {
        test: {
          name: "postgres",
          include: postgres,
          globalSetup: "packages/storage-postgres/test/PostgresServer.ts",
          testTimeout: 120_000,
          hookTimeout: 120_000
        }
      }
    ]
  }
})
