/** Sessions and usage of a month, in a large store and in one with 10,000 events; and what deriving them takes. */
import { defaultProject, derive, Storage, Throttle } from "@tachograph/core"
import { createTachograph, type Tachograph } from "@tachograph/router"
import { Effect } from "effect"
import * as Databases from "../harness/Databases.ts"
import * as Interleaved from "../harness/Interleaved.ts"
import * as SeededStore from "../harness/SeededStore.ts"
import { decimal, integer, median, megabytes, print, progress, times } from "../harness/Table.ts"
import type { Options } from "./Options.ts"

const smallEvents = 10_000

const project = defaultProject

/** Reads in a round. */
const reads = 3

const timeOf = (ms: number): string => new Date(ms).toISOString()

const middle = timeOf((SeededStore.beginMs + SeededStore.endMs) / 2)
const month = `after=${timeOf(SeededStore.beginMs)}&before=${timeOf(SeededStore.endMs)}`

const paths: Readonly<Record<string, string>> = {
  sessions: "/sessions",
  "sessions from the middle": `/sessions?before=${middle}`,
  "sessions of an agent": "/sessions?agent=agent+1",
  "sessions of a person": "/sessions?person=person+1",
  "sessions with errors, oldest first": "/sessions?error=true&order=asc",
  "one session": "/sessions/session%207",
  usage: "/usage",
  "usage by day, a month": `/usage?group_by=day&${month}`,
  "usage by day, a month, Berlin": `/usage?group_by=day&time_zone=Europe/Berlin&${month}`,
  "usage by day, a month, Kolkata": `/usage?group_by=day&time_zone=Asia/Kolkata&${month}`,
  "usage by day, half a month and ten minutes": `/usage?group_by=day&after=${middle.replace("00:00:00", "00:10:00")}`,
  "usage by hour": "/usage?group_by=hour&limit=1000",
  "usage by day and model": "/usage?group_by=day,model&limit=1000",
  "usage by agent and version": "/usage?group_by=agent,agent_version",
  "usage by person": "/usage?group_by=person",
  "usage by session": "/usage?group_by=session",
  "usage of a person by day": "/usage?group_by=day&person=person+1"
}

interface Opened {
  readonly tachograph: Tachograph
  readonly events: number
}

const open = async (database: Databases.Database, events: number): Promise<Opened> => {
  let written = 0
  const work = Effect.gen(function* () {
    const storage = yield* Storage
    yield* Effect.promise(() =>
      SeededStore.fill(storage, events, (count) => {
        if (count % 100_000 === 0) progress(`${database.kind}: ${integer(count)} of ${integer(events)} events`)
        written = count
      })
    )
    const cpu = process.cpuUsage()
    const startedAt = performance.now()
    yield* derive(storage, project, Throttle.unthrottled)
    const { system, user } = process.cpuUsage(cpu)
    progress(
      `${database.kind}: derived ${integer(written)} events, each in ${decimal((1000 * (performance.now() - startedAt)) / written, 1)} µs, ` +
        `${decimal((user + system) / written, 1)} µs of CPU of this process`
    )
  })
  await Effect.runPromise(Effect.provide(work, database.storage))
  if (database.kind === "Postgres") await database.query((sql) => sql`VACUUM ANALYZE`)
  const authorize = () => ({ project, scopes: ["read"] as const })
  return {
    tachograph: await createTachograph({ storage: database.storage, authorize, thread: false }),
    events: written
  }
}

const bytesOf = (database: Databases.Database): Promise<{ readonly all: number; readonly derived: number }> =>
  database.query((sql) =>
    Effect.gen(function* () {
      const parts = yield* database.kind === "SQLite"
        ? sql<{ name: string; bytes: number }>`SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name`
        : sql<{ name: string; bytes: number }>`SELECT relname AS name, pg_relation_size(oid) AS bytes FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'i')`
      const sum = (isCounted: (name: string) => boolean) =>
        parts.reduce((total, { bytes, name }) => (isCounted(name) ? total + Number(bytes) : total), 0)
      return { all: sum(() => true), derived: sum((name) => /rollups/.test(name)) }
    })
  )

const compare = async (kind: string, make: () => Databases.Database, { events, runs }: Options): Promise<void> => {
  const [smallDatabase, largeDatabase] = [make(), make()]
  const small = await open(smallDatabase, smallEvents)
  const large = await open(largeDatabase, events)
  const read = async ({ tachograph }: Opened, path: string) => {
    const response = await tachograph.fetch(new Request(`http://localhost/api/v1${path}`))
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
  }
  const rows: Array<ReadonlyArray<string>> = []
  for (const [name, path] of Object.entries(paths)) {
    const [ofSmall, ofLarge] = await Interleaved.averages(runs, reads, [
      () => read(small, path),
      () => read(large, path)
    ])
    const [few, many] = [median(ofSmall!), median(ofLarge!)]
    rows.push([name, decimal(few), decimal(many), times(many / few)])
  }
  const bytes = await bytesOf(largeDatabase)
  print({
    title: `Sessions and usage, ${kind}`,
    columns: ["read", `ms with ${integer(small.events)} events`, `ms with ${integer(large.events)}`, "ratio"],
    rows,
    notes: [
      "Medians of answers in process, interleaved. The derived tables take " +
        `${megabytes(bytes.derived)} MB of ${megabytes(bytes.all)} MB, ${decimal((100 * bytes.derived) / bytes.all)} %.`
    ]
  })
  await small.tachograph.close()
  await large.tachograph.close()
  await smallDatabase.remove()
  await largeDatabase.remove()
}

export const sums = async (options: Options): Promise<void> => {
  await compare("SQLite", Databases.sqlite, options)
  const { postgres } = options
  if (postgres !== undefined) await compare("Postgres", () => Databases.postgres(postgres.url), options)
}
