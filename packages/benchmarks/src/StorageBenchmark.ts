/**
 * What it takes to keep events: bytes, time and memory, as tables. `docs/benchmarks.md` says what each of them means.
 *
 *   node src/StorageBenchmark.ts [--no-postgres] [--only NAME]... [--runs 5] [FILE...]
 *
 * A FILE holds the body of an event on every line. Without any, a made-up run of the project's own is taken.
 */
import { cpus } from "node:os"
import { parseArgs } from "node:util"
import * as Databases from "./storage/Databases.ts"
import { forgetting } from "./storage/Forgetting.ts"
import { growth } from "./storage/Growth.ts"
import { memory } from "./storage/Memory.ts"
import type { Options } from "./storage/Options.ts"
import { reading } from "./storage/Reading.ts"
import * as Recording from "./storage/Recording.ts"
import { size } from "./storage/Size.ts"
import { splitting } from "./storage/Splitting.ts"
import { integer, megabytes, progress } from "./storage/Table.ts"
import { throughput } from "./storage/Throughput.ts"
import { twoProcesses } from "./storage/TwoProcesses.ts"
import * as Workload from "./storage/Workload.ts"

const figures: Readonly<Record<string, (options: Options) => Promise<void>>> = {
  size,
  growth,
  splitting,
  reading,
  throughput,
  memory,
  forgetting,
  "two-processes": twoProcesses
}

const usage = (message: string): never => {
  console.error(message)
  process.exit(2)
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    postgres: { type: "boolean", default: true },
    only: { type: "string", multiple: true, default: [] },
    runs: { type: "string", default: "5" }
  }
})
const runs = Number(values.runs)
if (!Number.isInteger(runs) || runs < 1) usage(`--runs is ${JSON.stringify(values.runs)}: expected a number from 1`)
const names = values.only.length === 0 ? Object.keys(figures) : values.only
for (const name of names) {
  if (!Object.hasOwn(figures, name)) {
    usage(`--only is ${JSON.stringify(name)}: expected one of ${Object.keys(figures).join(", ")}`)
  }
}

const fingerprintId = await Recording.fingerprintId()
const workloads: Array<Workload.Workload> = []
for (const file of positionals) workloads.push(await Workload.read(file, fingerprintId))
if (workloads.length === 0) workloads.push(await Workload.sample(fingerprintId))
const postgres = values.postgres ? await Databases.startPostgres() : undefined

const [cpu] = cpus()
console.log(`npm run bench:storage -- ${process.argv.slice(2).join(" ")}`)
console.log(
  `${cpus().length} × ${cpu?.model ?? "unknown processor"}, Node ${process.version}, ` +
    (postgres === undefined ? "no Postgres" : `PostgreSQL ${postgres.version}`)
)
for (const { bodies, bytes, name } of workloads) {
  console.log(`${name}: ${integer(bodies.length)} events, ${megabytes(bytes, 1)} MB of bodies`)
}

try {
  for (const name of names) {
    progress(name)
    await figures[name]!({ workloads, postgres, runs })
  }
} finally {
  await postgres?.remove()
}
