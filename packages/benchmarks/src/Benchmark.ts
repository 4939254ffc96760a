/** What it takes to serve events, against what somebody could use instead. `docs/benchmarks.md` says what each figure means. */
import * as CommandLine from "./harness/CommandLine.ts"
import * as Workload from "./harness/Workload.ts"
import { codingRun } from "./serving/CodingRun.ts"
import * as Filling from "./serving/Filling.ts"
import { full, list } from "./serving/Full.ts"
import { groupCommit, latency } from "./serving/GroupCommit.ts"
import { memory } from "./serving/Memory.ts"
import { overload } from "./serving/Overload.ts"
import { embed, postgres, route, sqlite } from "./serving/Throughput.ts"

await CommandLine.run({
  command: "npm run bench --",
  description: "Events a second, latency and memory of the server, beside what somebody could use instead.",
  figures: {
    route,
    sqlite,
    postgres,
    "coding-run": codingRun,
    "group-commit": groupCommit,
    latency,
    overload,
    full,
    list,
    memory,
    embed
  },
  numbers: {
    seconds: { default: 5, max: 60, description: "How long each load lasts" },
    events: { default: 1_000_000, max: 100_000_000, description: "Events in a store that is full" }
  },
  workload: Workload.codingRun,
  close: Filling.removeAll
})
