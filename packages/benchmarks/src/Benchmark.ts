/** Compares the server's throughput, latency and memory with simpler servers. `docs/benchmarks.md` explains each benchmark. */
import { outage } from "./client/Outage.ts"
import { overhead } from "./client/Overhead.ts"
import * as CommandLine from "./harness/CommandLine.ts"
import * as Workload from "./harness/Workload.ts"
import { batch } from "./serving/Batch.ts"
import { exports } from "./serving/Exports.ts"
import { cluster } from "./serving/Cluster.ts"
import { codingRun } from "./serving/CodingRun.ts"
import * as FilledStore from "./serving/FilledStore.ts"
import { groupCommit, latency } from "./serving/GroupCommit.ts"
import { full, list } from "./serving/LargeStore.ts"
import { host, largeBodies } from "./serving/HostLatency.ts"
import { memory } from "./serving/Memory.ts"
import { proxy } from "./serving/Proxy.ts"
import { peers } from "./serving/Peers.ts"
import { reads } from "./serving/Reads.ts"
import { overload } from "./serving/Overload.ts"
import { sums } from "./serving/Sums.ts"
import { embed, postgres, route, sqlite } from "./serving/Throughput.ts"
import { viewer } from "./viewer/Viewer.ts"

await CommandLine.run({
  command: "npm run bench --",
  description: "Throughput, latency and memory of the server, compared with simpler servers.",
  benchmarks: {
    route,
    sqlite,
    postgres,
    cluster,
    "coding-run": codingRun,
    peers,
    batch,
    "group-commit": groupCommit,
    latency,
    overload,
    full,
    list,
    reads,
    sums,
    exports,
    memory,
    embed,
    host,
    "large-bodies": largeBodies,
    proxy,
    viewer,
    client: overhead,
    "client-outage": outage
  },
  numbers: {
    seconds: { default: 5, max: 60, description: "Duration of each load in seconds" },
    events: { default: 1_000_000, max: 100_000_000, description: "Events in a large store" }
  },
  workload: Workload.codingRun,
  close: FilledStore.removeAll
})
