/**
 * Complete agent runs to record. The real workloads are used if they are present beside the repository; otherwise there is
 * only the built-in sample run, and `title` says so.
 */
import { Replay } from "@tachograph/testkit"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../../../../shared/workloads", import.meta.url))

const expand = (file: string, max?: number) => (fingerprintId: string) => {
  const args = [
    join(folder, "expand.mjs"),
    join(folder, file),
    fingerprintId,
    ...(max === undefined ? [] : [String(max)])
  ]
  return createInterface({ input: spawn(process.execPath, args).stdout })
}

export const workloads: Readonly<Record<string, (fingerprintId: string) => Iterable<string> | AsyncIterable<string>>> =
  {
    "a sample run": Replay.sampleRun,
    ...(existsSync(folder)
      ? {
          "calls.ndjson": expand("calls.ndjson"),
          "airline-runs.ndjson": expand("airline-runs.ndjson"),
          "the first 100 calls of coding-run.json": expand("coding-run.json", 100)
        }
      : {})
  }

export const title =
  Object.keys(workloads).join(", ") + (existsSync(folder) ? "" : " (the real workloads are not available)")
