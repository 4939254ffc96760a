/** A whole run of an agent, whose history grows, against one INSERT for each of its calls. */
import * as Databases from "../harness/Databases.ts"
import { longest } from "../harness/Options.ts"
import * as Harness from "../harness/Servers.ts"
import { decimal, integer, median, megabytes, print, progress, spread } from "../harness/Table.ts"
import { ratioOf } from "./Comparison.ts"
import type { Options } from "./Options.ts"
import * as Servers from "./Servers.ts"

const connections = 16

/** No Postgres keeps it in jsonb. Ours does not mind, but is to have the same. */
const withoutNul = (body: Buffer): Buffer =>
  body.includes("\\u0000") ? Buffer.from(body.toString().replaceAll("\\u0000", "")) : body

/** Seconds for all of it, by a server that has recorded the run once before. */
const record = async ({ open }: Servers.Contender, bodies: ReadonlyArray<Buffer>): Promise<number> => {
  const { close, server } = await open()
  try {
    await Harness.sendAll(server, Harness.warmUp(bodies), connections)
    const started = performance.now()
    await Harness.sendAll(server, bodies, connections)
    return (performance.now() - started) / 1_000
  } finally {
    await close()
  }
}

export const codingRun = async (options: Options): Promise<void> => {
  if (options.postgres === undefined) return progress("coding-run: only where there is Postgres; left out")
  const { name, ...workload } = longest(options)
  const bodies = workload.bodies.map(withoutNul)
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
  const { url } = options.postgres
  const contenders = [Servers.ours("Tachograph, Postgres", () => Databases.postgres(url)), Servers.fastifyPg(url)]
  const speeds = contenders.map(() => [] as Array<number>)
  for (let run = 1; run <= options.runs; run++) {
    for (const [index, contender] of contenders.entries()) {
      progress(`coding-run: ${contender.name}, ${run} of ${options.runs}`)
      speeds[index]!.push(bytes / 1e6 / (await record(contender, bodies)))
    }
  }
  print({
    title: `Recording ${name}, Postgres`,
    columns: ["server", "MB sent a second", "events a second", "÷ the last", "asked"],
    rows: contenders.map(({ name }, index) => [
      name,
      spread(speeds[index]!),
      decimal((bodies.length * 1e6 * median(speeds[index]!)) / bytes, 0),
      index === 0 ? ratioOf(speeds[0]!, speeds[1]!) : "",
      index === 0 ? "≥ 5×" : ""
    ]),
    notes: [
      `${integer(bodies.length)} events, ${megabytes(bytes, 1)} MB, the longest of ${megabytes(Math.max(...bodies.map(({ length }) => length)), 2)} MB; ` +
        `connections: ${connections}. Medians of ${options.runs} (range), turn by turn, a new process and a new schema each time, ` +
        "warmed up by the whole run under another session's name."
    ]
  })
}
