/**
 * Injects faults into a server and its database, and checks that no acknowledged event is lost. See `docs/faults.md`.
 *
 *   npm run faults -- [FAULT...] [--rounds N] [--seed N] [--storage sqlite|postgres|both|citus] [--seconds N] [--server COMMAND]
 */
import { parseArgs } from "node:util"
import { faults } from "./faults/All.ts"
import { citusUrl } from "./harness/Citus.ts"
import * as Report from "./harness/Report.ts"
import * as Trials from "./harness/Trials.ts"
import { defaultCommand } from "./harness/Server.ts"
import type { Kind } from "./harness/Store.ts"

const help = `npm run faults -- [FAULT...] [OPTION...]

Faults (default: all):
${faults.map(({ name, promise, rounds }) => `  ${name.padEnd(17)} ${promise} (${rounds} rounds)`).join("\n")}

Options:
  --rounds N         rounds of each fault (default: each fault's own number, above)
  --seed N           determines what is sent and when faults happen (default: random; always printed)
  --storage WHICH    sqlite, postgres or both (default: both); a PostgreSQL server is started for the run. Or citus: the cluster
                     whose coordinator TACHOGRAPH_TEST_CITUS_URL names, with its nodes on this machine
  --seconds N        how long a frozen database stays frozen (default: 30)
  --server COMMAND   shell command that starts the server under test, without \`serve\` (default: this repository's server)
  --help             print this help

Exit codes: 0 if every fault passed, 1 if one failed, 2 if the command line is invalid, 3 if none failed but one was
skipped because a requirement is missing.
`

const exitCodes = { passed: 0, failed: 1, usage: 2, skipped: 3 }

const usage = (message: string): never => {
  console.error(`${message}\nSee npm run faults -- --help`)
  process.exit(exitCodes.usage)
}

const parsed = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: "string" },
        seed: { type: "string", default: String(Date.now() % 2 ** 31) },
        storage: { type: "string", default: "both" },
        seconds: { type: "string", default: "30" },
        server: { type: "string", default: defaultCommand },
        help: { type: "boolean", default: false }
      }
    })
  } catch (error) {
    return usage((error as Error).message)
  }
}

const number = (name: string, text: string, min: number): number => {
  const value = Number(text)
  if (!/^\d{1,10}$/.test(text) || value < min) {
    usage(`--${name} is ${JSON.stringify(text)}: expected a whole number of at least ${min}`)
  }
  return value
}

const storages: Readonly<Record<string, ReadonlyArray<Kind>>> = {
  sqlite: ["sqlite"],
  postgres: ["postgres"],
  both: ["sqlite", "postgres"],
  citus: ["citus"]
}

const { positionals, values } = parsed()
if (values.help) {
  console.log(help)
  process.exit(exitCodes.passed)
}
for (const name of positionals) {
  if (!faults.some((fault) => fault.name === name)) {
    usage(`Unknown fault ${JSON.stringify(name)}: expected ${faults.map((fault) => fault.name).join(", ")}`)
  }
}
const kinds = Object.hasOwn(storages, values.storage)
  ? storages[values.storage]!
  : usage(`--storage is ${JSON.stringify(values.storage)}: expected sqlite, postgres, both or citus`)
if (kinds.includes("citus") && citusUrl === undefined) usage("--storage citus needs TACHOGRAPH_TEST_CITUS_URL")
const seed = number("seed", values.seed, 0)

// `exit` listeners kill the processes and remove the files of the run.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))

const selected = faults.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
if (!selected.some((fault) => kinds.some((kind) => fault.storages.includes(kind)))) {
  usage(`None of these faults applies to ${values.storage}`)
}

console.log(`seed ${seed}`)
const results = await Trials.all({
  faults: selected,
  kinds,
  command: values.server,
  seed,
  rounds: values.rounds === undefined ? undefined : number("rounds", values.rounds, 1),
  seconds: number("seconds", values.seconds, 1),
  progress: (text) => console.error(text)
})
console.log(Report.table(results))
console.log(Report.details(results))
const statuses = new Set(results.map(({ report }) => Report.statusOf(report)))
if (statuses.has("FAILED")) process.exit(exitCodes.failed)
process.exit(statuses.has("skipped") ? exitCodes.skipped : exitCodes.passed)
