import { existsSync, statfsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { bundledThreads } from "./scripts/vitest/Bundles.ts"
import { LongestFirst } from "./scripts/vitest/LongestFirst.ts"
import { slowestFiles } from "./scripts/vitest/SlowestFiles.ts"

// Tests start many processes of the tree. With the cache, each module is compiled once.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/node", import.meta.url))

/** Free bytes that a folder in memory needs for the files of a run. */
const temporaryBytes = 4 * 1024 ** 3

const hasRoom = (folder: string): boolean => {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize >= temporaryBytes
}

// Tests flush thousands of small databases. In memory none of them waits for the disk.
if (hasRoom("/dev/shm")) process.env["TMPDIR"] ??= "/dev/shm"

/** Disturb the cluster on which other tests run. */
const clusterFaults = [
  "packages/fault-injection/test/postgres/Citus.test.ts",
  "packages/storage-postgres/test/CitusDoubt.test.ts"
]

/** Some tests are packages of their own, with dependencies that have tests as well. */
const ofOthers = "**/node_modules/**"

const postgres = [
  "packages/storage-postgres/test/**/*.test.ts",
  "packages/{server,fault-injection}/test/postgres/**/*.test.ts",
  "examples/lambda/test/Lambda.test.ts"
]

const shared = {
  isolate: false,
  setupFiles: ["scripts/vitest/EachFile.ts", "packages/testkit/test/SeedProperties.ts"],
  // A generous limit in ms: it ends a test that hangs, and is not an assertion about time.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } }
}

export default defineConfig({
  test: {
    // More workers than the two cores of CI, because many tests wait for processes, databases and timers.
    maxWorkers: 4,
    globalSetup: "scripts/vitest/Bundles.ts",
    sequence: { sequencer: LongestFirst },
    reporters: ["default", slowestFiles],
    projects: [
      {
        plugins: [bundledThreads],
        test: {
          ...shared,
          name: "tree",
          include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts", "examples/*/test/**/*.test.ts"],
          exclude: [ofOthers, ...postgres]
        }
      },
      {
        plugins: [bundledThreads],
        test: {
          ...shared,
          name: "postgres",
          include: postgres,
          exclude: [ofOthers, ...clusterFaults],
          globalSetup: "packages/storage-postgres/test/PostgresServer.ts"
        }
      },
      {
        plugins: [bundledThreads],
        test: {
          ...shared,
          name: "cluster faults",
          include: clusterFaults,
          // One at a time.
          fileParallelism: false,
          // After all others.
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
