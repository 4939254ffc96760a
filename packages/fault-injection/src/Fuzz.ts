/** Looks for wrong answers with random damage, random conversations and random posts of OpenTelemetry. See `help` and `docs/fuzz.md`. */
import { parseArgs } from "node:util"
import * as Answers from "./fuzz/Answers.ts"
import * as ConversationRun from "./fuzz/ConversationRun.ts"
import * as Conversations from "./fuzz/Conversations.ts"
import * as Damage from "./fuzz/Damage.ts"
import * as DamageStore from "./fuzz/DamageStore.ts"
import * as Fuzzer from "./fuzz/Fuzzer.ts"
import * as Otlp from "./fuzz/Otlp.ts"
import type { Tally } from "./fuzz/Tally.ts"
import * as Watchdog from "./fuzz/Watchdog.ts"
import * as Postgres from "./harness/Postgres.ts"
import * as Store from "./harness/Store.ts"

const help = `npm run fuzz -- damage|answers|conversations|otlp [OPTION...]

Fuzzers:
  damage           flips one bit of a store in each round, then reads, records, verifies and erases: a read returns what was
                   sent or event-damaged, recording goes on, verifications name each event that reads refuse, erasures end
                   and leave nothing
  answers          flips one bit of a SQLite file in each round, or overwrites a page with zeros, then sends every kind of read:
                   each is answered as before, or with a typed error
  conversations    agents record random conversations into servers that are stopped, killed and started again, one or two at a
                   time: every acknowledged event is read as it was sent, what was erased is gone, and the store verifies
  otlp             sends a random post of OpenTelemetry in each round, most of them damaged: each is answered 200 or 400, a 400
                   keeps nothing, a 200 every call, and all that waits can be finished

Options:
  --storage WHICH  sqlite, postgres or both (default: both), and for conversations also memory; answers and otlp have sqlite
                   only. A PostgreSQL server is started for the run
  --seed N         determines what is sent and what is damaged (default: random; always printed)
  --rounds N       rounds of damage, answers and otlp (default: 100)
  --from N         number of the first of them (default: 1), to repeat a round
  --in WHERE       where damage flips a bit: rows (any column of any table), TABLE.COLUMN, or file (any byte of the closed
                   SQLite file) (default: rows)
  --events N       acknowledged events of conversations (default: 2000)
  --help           print this help

Exit codes: 0 if nothing is wrong, 1 if something is, 2 if the command line is invalid, 130 after a signal.
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
        events: { type: "string", default: "2000" },
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
const fuzzers = ["damage", "answers", "conversations", "otlp"] as const
const fuzzer =
  fuzzers.find((name) => positionals.length === 1 && name === positionals[0]) ??
  usage(`Expected one fuzzer: ${fuzzers.join(" or ")}`)
const isDamage = fuzzer === "damage"
const isInFile = fuzzer === "answers" || fuzzer === "otlp"

const seed = number("seed", values.seed, 0)
const rounds = number("rounds", values.rounds, 1)
const from = number("from", values.from, 1)
const events = number("events", values.events, 1)
const where = values.in
if (!["rows", "file"].includes(where) && !/^\w+\.\w+$/.test(where)) {
  usage(`--in is ${JSON.stringify(where)}: expected rows, file or TABLE.COLUMN`)
}
const storages = isDamage
  ? (["sqlite", "postgres", "both"] as const)
  : (["sqlite", "postgres", "memory", "both"] as const)
const storage = oneOf("storage", values.storage, storages)
if (isDamage && where === "file" && storage === "postgres") usage("--in file applies to sqlite only")
if (isInFile && !["sqlite", "both"].includes(storage)) usage(`${fuzzer} applies to sqlite only`)

// `exit` listeners end the processes and remove the files of the run.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))

console.log(`seed ${seed}`)

/** Between two lines of progress (ms). */
const progressMs = 10_000
let shownAt = performance.now()

const progress = (on: Fuzzer.Result["storage"], done: string, tally: Tally) => {
  if (performance.now() - shownAt < progressMs) return
  shownAt = performance.now()
  console.error(`${fuzzer} on ${on}: ${done}, ${tally.wrongs} wrong`)
}

const runDamage = async (
  kind: Store.Kind,
  postgres: Postgres.Postgres | undefined,
  commandOf: Fuzzer.Result["commandOf"]
) => {
  const watchdog = Watchdog.start()
  const store = postgres === undefined ? DamageStore.sqlite() : await DamageStore.postgres(postgres)
  const tally = await Damage.run(store, {
    seed,
    from,
    rounds,
    where,
    progress: (round, tally) => {
      watchdog.next(commandOf(round))
      progress(kind, `round ${round} of ${from + rounds - 1}`, tally)
    }
  })
  await store.remove()
  await watchdog.stop()
  return tally
}

const runConversations = (on: Fuzzer.Result["storage"], postgres: Postgres.Postgres | undefined) => {
  const options = {
    seed,
    events,
    progress: (tally: Tally) => progress(on, `event ${tally.of("events")} of ${events}`, tally)
  }
  if (postgres !== undefined) return ConversationRun.overPostgres(postgres, options)
  return on === "memory" ? ConversationRun.inMemory(options) : ConversationRun.overSqlite(options)
}

const runInFile = async () => {
  const ofRound = (round: number, tally: Tally) => progress("sqlite", `round ${round} of ${from + rounds - 1}`, tally)
  const options = { seed, from, rounds, progress: ofRound }
  if (fuzzer === "otlp") {
    const store = Store.sqlite()
    return Otlp.run(store, options).finally(store.remove)
  }
  const store = DamageStore.sqlite()
  return Answers.run(store, options).finally(store.remove)
}

const run = async (on: Fuzzer.Result["storage"], postgres?: Postgres.Postgres): Promise<Fuzzer.Result> => {
  const commandOf = (round: number) => {
    if (isInFile) return `npm run fuzz -- ${fuzzer} --seed ${seed} --from ${round} --rounds 1`
    return isDamage
      ? `npm run fuzz -- damage --storage ${on} --in ${where} --seed ${seed} --from ${round} --rounds 1`
      : `npm run fuzz -- conversations --storage ${on} --seed ${seed} --events ${events}`
  }
  const runOne = () => {
    if (isInFile) return runInFile()
    return isDamage ? runDamage(on as Store.Kind, postgres, commandOf) : runConversations(on, postgres)
  }
  const startedAt = performance.now()
  const tally = await runOne()
  return { fuzzer, storage: on, tally, seconds: (performance.now() - startedAt) / 1_000, commandOf }
}

const results: Array<Fuzzer.Result> = []
if (storage === "memory") results.push(await run("memory"))
if (storage === "sqlite" || storage === "both") results.push(await run("sqlite"))
if ((storage === "postgres" || storage === "both") && !isInFile && !(isDamage && where === "file")) {
  const postgres = await Postgres.start()
  results.push(await run("postgres", postgres).finally(postgres.remove))
}
const countedOf = {
  damage: Damage.counted,
  answers: Answers.counted,
  otlp: Otlp.counted,
  conversations: Conversations.counted
}
const counted = countedOf[fuzzer]
console.log(Fuzzer.table(counted, results))
console.log(Fuzzer.details(counted, results))
process.exit(results.some(({ tally }) => tally.wrongs > 0) ? exitCodes.failed : exitCodes.passed)
