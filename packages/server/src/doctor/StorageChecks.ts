/** The storage: whether it is reached, its tables, and the settings of its database on which a 200 depends. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { Inspect, StorageChoice } from "../config/StorageChoice.ts"
import type { CommandError } from "../terminal/CliErrors.ts"
import * as Figures from "../terminal/Figures.ts"
import { type Check, type Finding, ok, problem, warning } from "./Check.ts"
import * as DiskChecks from "./DiskChecks.ts"

type OfSqlite = Effect.Success<Extract<Inspect, { filename: string }>["facts"]>
type OfPostgres = Effect.Success<Extract<Inspect, { filename: undefined }>["facts"]>

/** Asks once for all checks. None of what depends on the answer is looked at where there is none. */
const reached = <Facts>(
  label: string,
  facts: Effect.Effect<Facts, CommandError>,
  checks: ReadonlyArray<readonly [name: string, look: (facts: Facts) => Finding | Effect.Effect<Finding>]>
): Effect.Effect<ReadonlyArray<Check>> =>
  Effect.match(facts, {
    onFailure: ({ message }): ReadonlyArray<Check> => [
      {
        name: "storage",
        look: Effect.succeed(problem(message, "operate.md says what each reason means", "operate.md#what-the-log-says"))
      }
    ],
    onSuccess: (found) => [
      { name: "storage", look: Effect.succeed(ok(`${label} can be read`)) },
      ...checks.map(([name, look]): Check => ({
        name,
        look: Effect.suspend(() => {
          const finding = look(found)
          return Effect.isEffect(finding) ? finding : Effect.succeed(finding)
        })
      }))
    ]
  })

const tables = ({ outOfDate }: { readonly outOfDate: string | undefined }): Finding =>
  outOfDate === undefined
    ? ok("the tables are up to date")
    : problem(
        outOfDate,
        "back it up, then let `tachograph migrate` or the next start change the tables, or use the version that made them",
        "operate.md#upgrade"
      )

/** New events get ids above those of the newest one, so a clock that was set back makes their times wrong (ms). */
const noticedMs = 1_000

const sinceNewest = Effect.fnUntraced(function* ({ newestEventMs }: OfSqlite) {
  const now = yield* Clock.currentTimeMillis
  const time = `it is ${DateTime.formatIso(DateTime.makeUnsafe(now))}`
  if (newestEventMs === undefined) return ok(time)
  if (newestEventMs - now < noticedMs) return ok(`${time}, and the newest event is older`)
  const says = `${time}, but the newest event is from ${DateTime.formatIso(DateTime.makeUnsafe(newestEventMs))}`
  const mend = "the clock was set back, or an imported event has a wrong time: set the clock, and keep it by NTP"
  return warning(says, mend, "operate.md#clock")
})

const journal = ({ journalMode }: OfSqlite): Finding =>
  journalMode === "wal"
    ? ok("journal mode WAL; a server syncs each commit")
    : warning(
        `journal mode ${journalMode}`,
        "nothing: the next start sets WAL, unless another program sets it back",
        "operate.md#disk"
      )

const writable = ({ isReadOnly, isStandby, version }: OfPostgres): Finding => {
  const mend = "give the URL of the node that takes writes, or of all: postgres://…@one,two/…"
  if (isStandby)
    return problem(`Postgres ${version} is a standby, which only reads`, mend, "postgres.md#high-availability")
  if (!isReadOnly) return ok(`Postgres ${version} writes`)
  return problem(
    `Postgres ${version} refuses to write (default_transaction_read_only)`,
    "ALTER ROLE or ALTER DATABASE … RESET default_transaction_read_only",
    "postgres.md#high-availability"
  )
}

/** What each must be so that a commit survives a crash of the machine. */
const durable = { fsync: "on", full_page_writes: "on" } as const

const durability = ({ settings }: OfPostgres): Finding => {
  const says = `fsync ${settings.fsync}, full_page_writes ${settings.full_page_writes}, synchronous_commit ${settings.synchronous_commit}`
  const wrong = Object.entries(durable).find(([name, value]) => settings[name as keyof typeof durable] !== value)
  if (wrong !== undefined) {
    return problem(
      says,
      `set ${wrong[0]} = ${wrong[1]}: a crash of the machine may lose what was acknowledged, or damage all`,
      "postgres.md"
    )
  }
  if (settings.synchronous_commit !== "off") return ok(says)
  return problem(
    says,
    "set synchronous_commit = on for this role: a crash may lose what was acknowledged",
    "postgres.md"
  )
}

const connections =
  (workers: number) =>
  ({ connections: { most, ofRole, open }, needed }: OfPostgres): Finding => {
    const all = needed * workers
    const says = `${Figures.integer(open)} of ${Figures.integer(most)} are open; this server opens up to ${Figures.integer(all)}`
    const mend = "raise max_connections, or give the URL a smaller pool_size; further servers need as many each"
    if (ofRole !== undefined && ofRole < all) {
      return problem(
        `${says}, and its role may have ${ofRole}`,
        "ALTER ROLE … CONNECTION LIMIT, or a smaller pool_size",
        "postgres.md"
      )
    }
    if (all > most) return problem(says, mend, "postgres.md")
    // Its own may be among those that are open.
    return all + open > most ? warning(says, mend, "postgres.md") : ok(says)
  }

/** From here on (ms) the ids of a server are refused at first: `docs/postgres.md`, clocks. */
const refusedMs = 1_000

const clocks = ({ clock: { aheadMs, askedMs } }: OfPostgres): Finding => {
  const ms = Math.round(Math.abs(aheadMs))
  const says = `${ms} ms ${aheadMs < 0 ? "before" : "behind"} the database's, known to ${Math.ceil(askedMs / 2)} ms`
  if (ms - askedMs / 2 < refusedMs / 2) return ok(says)
  return (ms - askedMs / 2 < refusedMs ? warning : problem)(says, "set both clocks by NTP", "postgres.md#clocks")
}

/** All of the storage. The file of SQLite may be missing: the first start makes it. */
export const of = (choice: StorageChoice, workers: number): Effect.Effect<ReadonlyArray<Check>> => {
  const { inspect, label } = choice
  if (inspect === undefined) {
    const found = warning(
      `${label}`,
      "give --storage sqlite:PATH or postgres://… to keep what is recorded",
      "server.md"
    )
    return Effect.succeed([{ name: "storage", look: Effect.succeed(found) }])
  }
  if (inspect.filename === undefined) {
    return reached(label, inspect.facts, [
      ["tables", tables],
      ["writable", writable],
      ["durability", durability],
      ["connections", connections(workers)],
      ["clock", clocks]
    ])
  }
  const ofDisk = DiskChecks.of(inspect.filename, choice)
  if (!choice.exists()) {
    const mend =
      "nothing if no server has run yet, whose first start makes it; otherwise give --storage sqlite:PATH of your server"
    const missing = warning(`${label} does not exist`, mend, "server.md")
    return Effect.succeed([{ name: "storage", look: Effect.succeed(missing) }, ...ofDisk])
  }
  const ofFile = reached(label, inspect.facts, [
    ["tables", tables],
    ["journal", journal],
    ["clock", sinceNewest]
  ])
  return Effect.map(ofFile, (checks) => [...checks, ...ofDisk])
}
