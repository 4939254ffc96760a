/**
 * Begins with the files that take longest, so that the run does not wait for one of them at its end. Vitest goes by the sizes of
 * files where it does not know their times, as in a fresh clone: a file of a few lines that runs a whole suite would be the last.
 */
import { existsSync } from "node:fs"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { path } from "../bundle/Bundle.ts"

/** In order. `SlowestFiles.ts` prints which files ought to be here. */
const long = [
  "packages/storage-postgres/test/PostgresStorage.test.ts",
  "packages/server/test/postgres/Workers.test.ts",
  "packages/storage-postgres/test/FetchPostgres.test.ts",
  "packages/fault-injection/test/postgres/Postgres.test.ts",
  "packages/server/test/postgres/Servers.test.ts",
  "packages/storage-postgres/test/Repair.test.ts",
  "packages/storage-postgres/test/Verify.test.ts",
  "packages/storage-postgres/test/Failover.test.ts",
  "packages/viewer/test/Pages.test.ts",
  "packages/viewer/test/Hostile.test.ts",
  "packages/viewer/test/Large.test.ts",
  "packages/client/test/process/Process.test.ts",
  "packages/fault-injection/test/Sqlite.test.ts",
  "packages/router/test/engine/ThreadEngine.test.ts",
  "packages/storage-sqlite/test/SqliteStorage.test.ts",
  "packages/server/test/commands/Backup.test.ts",
  "packages/fault-injection/test/Damage.test.ts",
  "packages/client/test/sdk/Large.test.ts",
  "packages/storage-sqlite/test/Erasure.test.ts",
  "packages/storage-sqlite/test/Verify.test.ts",
  "packages/storage-sqlite/test/Repair.test.ts",
  "packages/router/test/NodeMemory.test.ts",
  "packages/core/test/memory/MemoryStorage.test.ts"
].map(path)

const rankOf = ({ moduleId }: TestSpecification): number =>
  long.includes(moduleId) ? long.indexOf(moduleId) : long.length

export class LongestFirst extends BaseSequencer {
  override async sort(files: ReadonlyArray<TestSpecification>): Promise<Array<TestSpecification>> {
    const missing = long.filter((file) => !existsSync(file))
    if (missing.length > 0)
      throw new Error(`scripts/vitest/LongestFirst.ts names files that are not: ${missing.join(", ")}`)
    const sorted = await super.sort([...files])
    // The files of a project stay together: a worker has one project at a time.
    return Array.from(Map.groupBy(sorted, ({ project }) => project).values()).flatMap((ofProject) =>
      ofProject.toSorted((a, b) => rankOf(a) - rankOf(b))
    )
  }
}
