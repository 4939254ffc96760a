/** What it takes to keep events: bytes, time and memory, as tables. `docs/benchmarks.md` says what each of them means. */
import * as CommandLine from "./harness/CommandLine.ts"
import * as Workload from "./harness/Workload.ts"
import { forgetting } from "./storage/Forgetting.ts"
import { growth } from "./storage/Growth.ts"
import { memory } from "./storage/Memory.ts"
import { reading } from "./storage/Reading.ts"
import { size } from "./storage/Size.ts"
import { splitting } from "./storage/Splitting.ts"
import { throughput } from "./storage/Throughput.ts"
import { twoProcesses } from "./storage/TwoProcesses.ts"

await CommandLine.run({
  command: "npm run bench:storage --",
  description: "What it takes to keep events: bytes, time and memory. Without a FILE, those of a run that is made up.",
  figures: {
    size,
    growth,
    splitting,
    reading,
    throughput,
    memory,
    forgetting,
    "two-processes": twoProcesses
  },
  numbers: {},
  workload: Workload.sample
})
