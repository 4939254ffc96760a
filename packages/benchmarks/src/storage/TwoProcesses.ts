/** What it costs that two processes append to one session turn by turn. */
import * as Databases from "../harness/Databases.ts"
import { longest, type Options } from "../harness/Options.ts"
import * as Servers from "../harness/Servers.ts"
import * as Stored from "./Stored.ts"
import { decimal, integer, print, progress, times } from "../harness/Table.ts"

const record = async (url: string, bodies: ReadonlyArray<Buffer>, processes: number) => {
  const database = Databases.postgres(url)
  const servers: Array<Servers.Server> = []
  try {
    for (let n = 0; n < processes; n++) servers.push(await Servers.start(database))
    const started = performance.now()
    for (const [index, body] of bodies.entries()) await servers[index % processes]!.post("/api/v1/events", body)
    const seconds = (performance.now() - started) / 1_000
    return { seconds, stored: await Stored.measure(database) }
  } finally {
    for (const server of servers) await server.stop()
    await database.remove()
  }
}

export const twoProcesses = async (options: Options): Promise<void> => {
  if (options.postgres === undefined) return progress("two-processes: only where there is Postgres; left out")
  const { bodies, name } = longest(options)
  progress(`two-processes: ${name} by one process`)
  const one = await record(options.postgres.url, bodies, 1)
  progress(`two-processes: ${name} by two`)
  const two = await record(options.postgres.url, bodies, 2)
  const payload = ({ stored: { contents } }: typeof one) => contents.packBytes + contents.pieceBytes
  const row = (what: string, run: typeof one) => [
    what,
    integer(payload(run)),
    integer(run.stored.contents.newBytes),
    integer(run.stored.total),
    decimal(run.seconds, 1)
  ]
  print({
    title: `Two processes appending alternate calls of ${name} to one session in Postgres`,
    columns: ["processes", "packs and pieces", "new bytes, uncompressed", "all relations", "seconds"],
    rows: [
      row("one", one),
      row("two, turn by turn", two),
      [
        "two ÷ one",
        times(payload(two) / payload(one)),
        times(two.stored.contents.newBytes / one.stored.contents.newBytes),
        times(two.stored.total / one.stored.total),
        times(two.seconds / one.seconds)
      ]
    ],
    notes: ["Each call is known to be kept before the other process gets the next."]
  })
}
