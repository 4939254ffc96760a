/**
 * Hurts a server and its database, and looks whether what was promised holds. `docs/faults.md` says what each fault is.
 *
 *   npm run faults -- [FAULT...] [--rounds N] [--seed N] [--storage sqlite|postgres|both] [--seconds N] [--server COMMAND]
 */
import { parseArgs } from "node:util"
import { faults } from "./faults/All.ts"
import * as Report from "./harness/Report.ts"
import * as Run from "./harness/Run.ts"
import { defaultCommand } from "./harness/Server.ts"
import type { Kind } from "./harness/Store.ts"

const help = `npm run faults -- [FAULT...] [OPTION...]

Faults, all unless some are named:
${faults.map(({ name, promise, rounds }) => `  ${name.padEnd(17)} ${promise} (${rounds} rounds)`).join("\n")}

Options:
  --rounds N         how often each fault is brought about; each has a number of its own unless this is given
  --seed N           decides when things happen and what is sent; made up and printed unless given
  --storage WHICH    sqlite, postgres or both, which is the default; Postgres is one of the program's own
  --seconds N        how long a frozen database stays frozen; 30 unless given
  --server COMMAND   the server to be hurt, as a shell starts it, without \`serve\`; the one beside this program unless given
  --help             this

Exit 0: all promises held. Exit 1: one was broken; it is told above. Exit 2: something is wrong with the command. Exit 3:
a fault was left out, for want of what it takes; the others held.
`

const usage = (message: string): never => {
  console.error(`${message}\nSee npm run faults -- --help`)
  process.exit(2)
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
  if (!/^\d{1,10}$/.test(text) || value < min)
    usage(`--${name} is ${JSON.stringify(text)}: expected a number from ${min}`)
  return value
}

const storages: Readonly<Record<string, ReadonlyArray<Kind>>> = {
  sqlite: ["sqlite"],
  postgres: ["postgres"],
  both: ["sqlite", "postgres"]
}

const { positionals, values } = parsed()
if (values.help) {
  console.log(help)
  process.exit(0)
}
for (const name of positionals) {
  if (!faults.some((fault) => fault.name === name)) {
    usage(`There is no fault ${JSON.stringify(name)}: expected ${faults.map((fault) => fault.name).join(", ")}`)
  }
}
const kinds = Object.hasOwn(storages, values.storage)
  ? storages[values.storage]!
  : usage(`--storage is ${JSON.stringify(values.storage)}: expected sqlite, postgres or both`)
const seed = number("seed", values.seed, 0)

// Ends what was started: see the listeners of `exit`.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))

const chosen = faults.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
if (!chosen.some((fault) => kinds.some((kind) => fault.storages.includes(kind)))) {
  usage(`None of these faults is brought about on ${values.storage}`)
}

console.log(`seed ${seed}`)
const results = await Run.all({
  faults: chosen,
  kinds,
  command: values.server,
  seed,
  rounds: values.rounds === undefined ? undefined : number("rounds", values.rounds, 1),
  seconds: number("seconds", values.seconds, 1),
  progress: (text) => console.error(text)
})
console.log(Report.table(results))
console.log(Report.details(results))
const isBroken = results.some(({ report }) => report.broken.length > 0)
const isLeftOut = results.some(({ report }) => report.leftOut !== undefined)
process.exit(isBroken ? 1 : isLeftOut ? 3 : 0)
