/** The cost when two processes append alternately to one session. */
import * as Databases from "../harness/Databases.ts"
import { largest, type Options } from "../harness/Options.ts"
import * as Servers from "../harness/Servers.ts"
import { decimal, integer, print, progress, times } from "../harness/Table.ts"
import * as StoredBytes from "./StoredBytes.ts"

const record = async (url: string, bodies: ReadonlyArray<Buffer>, processes: number) => {
  const database = Databases.postgres(url)
  const servers: Array<Servers.Server> = []
  try {
    for (let n = 0; n < processes; n++) servers.push(await Servers.start(database))
    const startedAt = performance.now()
    for (const [index, body] of bodies.entries()) await servers[index % processes]!.post("/api/v1/events", body)
    const seconds = (performance.now() - startedAt) / 1_000
    return { seconds, stored: await StoredBytes.measure(database) }
  } finally {
    for (const server of servers) await server.stop()
    await database.remove()
  }
}

export const twoProcesses = async (options: Options): Promise<void> => {
  if (options.postgres === undefined) return progress("two-processes: skipped, needs Postgres")
  const { bodies, name } = largest(options)
  progress(`two-processes: ${name} by one process`)
  const one = await record(options.postgres.url, bodies, 1)
  progress(`two-processes: ${name} by two`)
  const two = await record(options.postgres.url, bodies, 2)
  const payload = ({ stored: { contents } }: typeof one) => contents.packBytes + contents.pieceBytes
  const row = (label: string, run: typeof one) => [
    label,
    integer(payload(run)),
    integer(run.stored.contents.newBytes),
    integer(run.stored.total),
    decimal(run.seconds, 1)
  ]
  print({
    title: `Two processes that append alternate calls of ${name} to one session in Postgres`,
    columns: ["processes", "packs and pieces", "new bytes, uncompressed", "all relations", "seconds"],
    rows: [
      row("one", one),
      row("two, alternating", two),
      [
        "two ÷ one",
        times(payload(two) / payload(one)),
        times(two.stored.contents.newBytes / one.stored.contents.newBytes),
        times(two.stored.total / one.stored.total),
        times(two.seconds / one.seconds)
      ]
    ],
    notes: ["Each call is acknowledged before the other process gets the next one."]
  })
}
