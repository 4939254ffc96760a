/** Measures bytes, time and memory of storing events. `docs/benchmarks.md` explains each benchmark. */
import * as CommandLine from "./harness/CommandLine.ts"
import * as Workload from "./harness/Workload.ts"
import { copies } from "./storage/Copies.ts"
import { growth } from "./storage/Growth.ts"
import { memory } from "./storage/Memory.ts"
import { otlp } from "./storage/Otlp.ts"
import { reading } from "./storage/Reading.ts"
import { sessionCache } from "./storage/SessionCache.ts"
import { size } from "./storage/Size.ts"
import { splitting } from "./storage/Splitting.ts"
import { throughput } from "./storage/Throughput.ts"
import { twoProcesses } from "./storage/TwoProcesses.ts"

await CommandLine.run({
  command: "npm run bench:storage --",
  description: "Bytes, time and memory of storing events. Without a FILE, of a generated sample run.",
  benchmarks: {
    size,
    growth,
    copies,
    splitting,
    reading,
    throughput,
    otlp,
    memory,
    "session-cache": sessionCache,
    "two-processes": twoProcesses
  },
  numbers: {},
  workload: Workload.sample
})
