/** Sessions, usage and other reads of a month, in a large store and in one with 10,000 events; and what deriving takes. */
import { defaultProject, derive, Storage, Throttle } from "@tachograph/core"
import { createTachograph, type Tachograph } from "@tachograph/router"
import * as Effect from "effect/Effect"
import * as Databases from "../harness/Databases.ts"
import * as Interleaved from "../harness/Interleaved.ts"
import * as SeededStore from "../harness/SeededStore.ts"
import { decimal, integer, median, megabytes, print, progress, times } from "../harness/Table.ts"
import type { Options } from "./Options.ts"

const smallEvents = 10_000

const project = defaultProject

/** Reads in a round. */
const reads = 20

const timeOf = (ms: number): string => new Date(ms).toISOString()

const middle = timeOf((SeededStore.beginMs + SeededStore.endMs) / 2)
const month = `after=${timeOf(SeededStore.beginMs)}&before=${timeOf(SeededStore.endMs)}`

const paths: Readonly<Record<string, string>> = {
  sessions: "/sessions",
  "sessions from the middle": `/sessions?before=${middle}`,
  "sessions of an agent": "/sessions?agent=agent+1&limit=40",
  "sessions of a person": "/sessions?person=person+1",
  "sessions with errors, oldest first": "/sessions?error=true&order=asc",
  "sessions by cost": "/sessions?sort=cost",
  "sessions by errors, of an agent": "/sessions?sort=errors&agent=agent+1",
  "sessions by duration, half a month": `/sessions?sort=duration&after=${middle}`,
  "calls by duration": "/events?sort=duration",
  "calls by cost, of a person": "/events?sort=cost&person=person+1",
  "one session": "/sessions/session%207",
  usage: "/usage",
  "usage by day, a month": `/usage?group_by=day&${month}`,
  "usage by day, a month, Berlin": `/usage?group_by=day&time_zone=Europe/Berlin&${month}`,
  "usage by day, a month, Kolkata": `/usage?group_by=day&time_zone=Asia/Kolkata&${month}`,
  "usage by day, half a month and ten minutes": `/usage?group_by=day&after=${middle.replace("00:00:00", "00:10:00")}`,
  "usage by hour": "/usage?group_by=hour&limit=1000",
  "usage by day and model": "/usage?group_by=day,model&limit=1000",
  "usage by day and model, Berlin": "/usage?group_by=day,model&time_zone=Europe/Berlin&limit=1000",
  "usage by agent and version": "/usage?group_by=agent,agent_version",
  "usage by agent and version, by cost, half a month": `/usage?group_by=agent,agent_version&sort=cost&after=${middle}`,
  "usage by model, by cost": "/usage?group_by=model&sort=cost",
  "usage by hour, Kolkata": "/usage?group_by=hour&time_zone=Asia/Kolkata&limit=1000",
  "usage by person": "/usage?group_by=person",
  "usage by session": "/usage?group_by=session",
  "usage by person and model": "/usage?group_by=person,model",
  "usage of a person by day": "/usage?group_by=day&person=person+1",
  events: "/events",
  "events of a person": "/events?person=person+1",
  "events of an agent, oldest first": "/events?agent=agent+1&order=asc",
  "errors of an agent": "/events?agent=agent+1&error=true",
  "events of a session": "/events?session=session+7",
  "an event": "/events/EVENT",
  "messages of an event": "/events/EVENT/messages",
  "messages of a session": "/sessions/session%207/messages",
  "calls of a session": "/sessions/session%207/calls",
  configurations: "/agents/agent%201/agent-versions/v1/configurations",
  "a common word": "/search?q=words",
  agents: "/agents",
  people: "/people",
  "people by cost": "/people?sort=cost"
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

const percentile99 = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(0.99 * values.length) - 1]!

const get = async ({ tachograph }: Opened, path: string): Promise<string> => {
  const response = await tachograph.fetch(new Request(`http://localhost/api/v1${path}`))
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
  return text
}

/** The id of an event of a session that every store has. */
const eventOf = async (opened: Opened): Promise<string> => {
  const page = JSON.parse(await get(opened, "/events?session=session+7&limit=1")) as {
    readonly events: ReadonlyArray<{ readonly event_id: string }>
  }
  return page.events[0]!.event_id
}

const compare = async (kind: string, make: () => Databases.Database, { events, runs }: Options): Promise<void> => {
  const [smallDatabase, largeDatabase] = [make(), make()]
  const small = await open(smallDatabase, smallEvents)
  const large = await open(largeDatabase, events)
  const rows: Array<ReadonlyArray<string>> = []
  for (const [name, template] of Object.entries(paths)) {
    const sides = await Promise.all(
      [small, large].map(async (side) => {
        const path = template.replace("EVENT", await eventOf(side))
        return () => get(side, path)
      })
    )
    const [short, long] = await Promise.all(sides.map(async (read) => (await read()).length))
    const [few, many] = (await Interleaved.samples(runs, reads, sides)) as [Interleaved.Samples, Interleaved.Samples]
    rows.push([
      name,
      ...[few, many].flatMap(({ cpuMs, ms }) => [
        decimal(median(ms)),
        decimal(percentile99(ms)),
        decimal(median(cpuMs))
      ]),
      times(median(many.ms) / median(few.ms)),
      times(median(many.cpuMs) / median(few.cpuMs)),
      times(long! / short!)
    ])
  }
  const bytes = await bytesOf(largeDatabase)
  print({
    title: `Sessions and usage, ${kind}`,
    columns: [
      "read",
      ...[small, large].flatMap(({ events }) => [`ms with ${integer(events)} events`, "p99", "CPU"]),
      "ratio",
      "of CPU",
      "of the answer"
    ],
    rows,
    notes: [
      `Medians and p99 of ${runs * reads} answers in process, ${reads} in turn on each side. The last column is how much longer the larger ` +
        `store's answer is: it has more hours, days or rows to answer. CPU is that of the process with its threads` +
        `${kind === "Postgres" ? ", without Postgres" : ""}. The derived tables take ` +
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
