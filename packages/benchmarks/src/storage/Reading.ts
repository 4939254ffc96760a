/** Reading an event with a long history, compared with reading the same text from one row. */
import { CurrentProject, defaultProject, EventId, Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Tracer from "effect/Tracer"
import { SqlClient } from "effect/sql"
import * as Databases from "../harness/Databases.ts"
import * as Interleaved from "../harness/Interleaved.ts"
import { largest, type Options } from "../harness/Options.ts"
import * as Recording from "../harness/Recording.ts"
import * as Servers from "../harness/Servers.ts"
import { decimal, integer, median, print, progress, spread, times } from "../harness/Table.ts"

/** Reads per round. */
const reads = 50

const putRow = (database: Databases.Database, text: Uint8Array) =>
  database.query((sql) =>
    Effect.andThen(
      sql`CREATE TABLE one_row (id INTEGER NOT NULL PRIMARY KEY, text ${sql.literal(database.kind === "SQLite" ? "BLOB" : "bytea")} NOT NULL)`,
      sql`INSERT INTO one_row ${sql.insert({ id: 1, text })}`
    )
  )

/** Counts the SQL statements that an effect executes, by their spans. */
const statementsOf = async <A, E, R>(
  run: (effect: Effect.Effect<A, E, R>) => Promise<A>,
  effect: Effect.Effect<A, E, R>
) => {
  let statements = 0
  const tracer = Tracer.make({
    span: (options) => {
      if (options.kind === "client") statements++
      return new Tracer.NativeSpan(options)
    }
  })
  await run(Effect.provideService(effect, Tracer.Tracer, tracer))
  return statements
}

const measure = async (database: Databases.Database, bodies: ReadonlyArray<Buffer>, runs: number) => {
  const ids = await Recording.recordAll(database.storage, bodies)
  const path = `/api/v1/events/${ids.at(-1)}`

  const first = await Servers.start(database)
  const text = await first.get(path)
  await first.stop()
  await putRow(database, text)

  const server = await Servers.start(database, { row: true })
  const [event = [], row = []] = await Interleaved.averages(runs, reads, [
    () => server.get(path),
    () => server.get("/row")
  ])
  const isSame = text.equals(await server.get("/row")) && text.equals(await server.get(path))
  if (!isSame) throw new Error("The row differs from the event")
  await server.stop()

  const recorder = ManagedRuntime.make(Recorder.layer.pipe(Layer.provide(database.storage)))
  const client = ManagedRuntime.make(database.client)
  const read = Effect.flatMap(Recorder, (_) => _.getEvent(EventId.make(ids.at(-1)!))).pipe(
    Effect.provideService(CurrentProject, defaultProject)
  )
  const select = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT text FROM one_row WHERE id = 1`)
  const [eventBelow = [], rowBelow = []] = await Interleaved.averages(runs, reads, [
    () => recorder.runPromise(read),
    () => client.runPromise(select)
  ])
  const statements = await statementsOf((effect) => recorder.runPromise(effect), read)
  await recorder.dispose()
  await client.dispose()
  return { database, bytes: text.length, event, row, eventBelow, rowBelow, statements }
}

export const reading = async (options: Options): Promise<void> => {
  const { bodies, name } = largest(options)
  const databases = [Databases.sqlite(), ...(options.postgres ? [Databases.postgres(options.postgres.url)] : [])]
  const measured: Array<Awaited<ReturnType<typeof measure>>> = []
  for (const database of databases) {
    progress(`reading: the last event of ${name} in ${database.kind}`)
    measured.push(await measure(database, bodies, options.runs).finally(database.remove))
  }
  print({
    title: `Reading the last event of ${name}, ms`,
    columns: ["access", "storage", "event", "one row", "event ÷ row"],
    rows: measured.flatMap(({ database: { kind }, event, eventBelow, row, rowBelow }) => [
      ["GET over HTTP", kind, spread(event, 2), spread(row, 2), times(median(event) / median(row))],
      ["without HTTP", kind, spread(eventBelow, 2), spread(rowBelow, 2), times(median(eventBelow) / median(rowBelow))]
    ]),
    notes: [
      `A response of ${integer(measured[0]!.bytes)} bytes. Medians of ${options.runs} rounds of ${reads} sequential reads, interleaved. ` +
        "Over HTTP: from a server in another process; the row needs no key. " +
        measured
          .map(({ database: { kind }, statements }) => `${kind}: ${decimal(statements, 0)} statements`)
          .join(", ") +
        " per event."
    ]
  })
}
