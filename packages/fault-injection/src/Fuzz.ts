/**
 * Looks for wrong answers with random damage and random conversations. See `docs/fuzz.md`.
 *
 *   npm run fuzz -- damage [--storage sqlite|postgres|both] [--rounds N] [--seed N] [--from N] [--in rows|file]
 */
import { parseArgs } from "node:util"
import * as Damage from "./fuzz/Damage.ts"
import * as DamageStore from "./fuzz/DamageStore.ts"
import * as Fuzzer from "./fuzz/Fuzzer.ts"
import * as Watchdog from "./fuzz/Watchdog.ts"
import * as Postgres from "./harness/Postgres.ts"
import type { Kind } from "./harness/Store.ts"

const help = `npm run fuzz -- damage [OPTION...]

Fuzzers:
  damage           flips one bit of a store in each round, then reads, records, verifies and erases: a read returns what was
                   sent or event-damaged, recording goes on, verifications name each event that reads refuse, erasures end
                   and leave nothing

Options:
  --storage WHICH  sqlite, postgres or both (default: both); a PostgreSQL server is started for the run
  --seed N         determines what is sent and what is damaged (default: random; always printed)
  --rounds N       rounds (default: 100)
  --from N         number of the first round (default: 1), to repeat a round
  --in WHERE       rows: any column of any table, or file: any byte of the closed SQLite file (default: rows)
  --help           print this help

Exit codes: 0 if nothing is wrong, 1 if something is, 2 if the command line is invalid.
`

const exitCodes = { passed: 0, failed: 1, usage: 2 }

const usage = (message: string): never => {
  console.error(`${message}\nSee npm run fuzz -- --help`)
  process.exit(exitCodes.usage)
}

const parsed = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: "string", default: "100" },
        from: { type: "string", default: "1" },
        in: { type: "string", default: "rows" },
        seed: { type: "string", default: String(Date.now() % 2 ** 31) },
        storage: { type: "string", default: "both" },
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

const oneOf = <A extends string>(name: string, text: string, values: ReadonlyArray<A>): A =>
  values.find((value) => value === text) ??
  usage(`--${name} is ${JSON.stringify(text)}: expected ${values.join(", ").replace(/, ([^,]*)$/, " or $1")}`)

const { positionals, values } = parsed()
if (values.help) {
  console.log(help)
  process.exit(exitCodes.passed)
}
const fuzzers = ["damage"]
if (positionals.length !== 1 || !fuzzers.includes(positionals[0]!))
  usage(`Expected one fuzzer: ${fuzzers.join(" or ")}`)

const seed = number("seed", values.seed, 0)
const rounds = number("rounds", values.rounds, 1)
const from = number("from", values.from, 1)
const where = oneOf("in", values.in, ["rows", "file"])
const storage = oneOf("storage", values.storage, where === "file" ? ["sqlite", "both"] : ["sqlite", "postgres", "both"])

// `exit` listeners end the processes and remove the files of the run.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))

console.log(`seed ${seed}`)

/** Between two lines of progress (ms). */
const progressMs = 10_000

const runDamage = async (kind: Kind, postgres: Postgres.Postgres | undefined): Promise<Fuzzer.Result> => {
  const commandOf = (round: number) =>
    `npm run fuzz -- damage --storage ${kind} --in ${where} --seed ${seed} --from ${round} --rounds 1`
  const watchdog = Watchdog.start()
  const store = postgres === undefined ? DamageStore.sqlite() : await DamageStore.postgres(postgres)
  const startedAt = performance.now()
  let shownAt = startedAt
  const tally = await Damage.run(store, {
    seed,
    from,
    rounds,
    where,
    progress: (round, { wrongs }) => {
      watchdog.next(commandOf(round))
      if (performance.now() - shownAt < progressMs) return
      shownAt = performance.now()
      console.error(`damage on ${kind}: round ${round} of ${from + rounds - 1}, ${wrongs} wrong`)
    }
  })
  await store.remove()
  await watchdog.stop()
  return { fuzzer: "damage", storage: kind, tally, seconds: (performance.now() - startedAt) / 1_000, commandOf }
}

const results: Array<Fuzzer.Result> = []
if (storage !== "postgres") results.push(await runDamage("sqlite", undefined))
if (storage !== "sqlite" && where === "rows") {
  const postgres = await Postgres.start()
  results.push(await runDamage("postgres", postgres).finally(postgres.remove))
}
console.log(Fuzzer.table(Damage.counted, results))
console.log(Fuzzer.details(Damage.counted, results))
process.exit(results.some(({ tally }) => tally.wrongs > 0) ? exitCodes.failed : exitCodes.passed)
