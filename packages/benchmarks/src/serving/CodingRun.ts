/** Records a whole agent run with its growing history, compared with one INSERT per call. */
import * as Databases from "../harness/Databases.ts"
import { type Format, formats } from "../harness/Formats.ts"
import { largest } from "../harness/Options.ts"
import * as Harness from "../harness/Servers.ts"
import { decimal, integer, median, megabytes, print, progress, spread } from "../harness/Table.ts"
import { ratioOf } from "./Comparison.ts"
import type { Options } from "./Options.ts"
import * as Servers from "./Servers.ts"

const connections = 16

/** Removes NUL escapes, which jsonb cannot store. Tachograph can, but both sides get the same bodies. */
export const withoutNul = (body: Buffer): Buffer =>
  body.includes("\\u0000") ? Buffer.from(body.toString().replaceAll("\\u0000", "")) : body

/** The seconds to record the run, by a server that has recorded it once before, and what `check` asks of it then. */
export const record = async (
  contender: Servers.Contender,
  bodies: ReadonlyArray<Buffer>,
  connections: number,
  { path, requestsOf }: Format,
  check: (opened: Servers.Open) => Promise<void> = () => Promise.resolve()
): Promise<number> => {
  // Before the server starts: while this takes seconds, it would close a connection that waits.
  const warmUp = requestsOf(Harness.warmUpBodies(bodies))
  const requests = requestsOf(bodies)
  return Servers.using(contender, async (opened) => {
    await Harness.sendAll(opened.server, warmUp, connections, path)
    const startedAt = performance.now()
    await Harness.sendAll(opened.server, requests, connections, path)
    const seconds = (performance.now() - startedAt) / 1_000
    await check(opened)
    return seconds
  })
}

export const codingRun = async (options: Options): Promise<void> => {
  if (options.postgres === undefined) return progress("coding-run: skipped, needs Postgres")
  const { name, ...workload } = largest(options)
  const bodies = workload.bodies.map(withoutNul)
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
  const { url } = options.postgres
  const contenders = [Servers.tachograph("Tachograph, Postgres", () => Databases.postgres(url)), Servers.fastifyPg(url)]
  const rates = contenders.map(() => [] as Array<number>)
  for (let run = 1; run <= options.runs; run++) {
    for (const [index, contender] of contenders.entries()) {
      progress(`coding-run: ${contender.name}, ${run} of ${options.runs}`)
      const seconds = await record(contender, bodies, connections, formats.event)
      rates[index]!.push(bytes / 1e6 / seconds)
    }
  }
  print({
    title: `Recording ${name}, Postgres`,
    columns: ["server", "MB/s sent", "events/s", "ratio", "target"],
    rows: contenders.map(({ name }, index) => [
      name,
      spread(rates[index]!),
      decimal((bodies.length * 1e6 * median(rates[index]!)) / bytes, 0),
      index === 0 ? ratioOf(rates[0]!, rates[1]!) : "",
      index === 0 ? "≥ 5×" : ""
    ]),
    notes: [
      `${integer(bodies.length)} events, ${megabytes(bytes, 1)} MB, the largest ${megabytes(Math.max(...bodies.map(({ length }) => length)), 2)} MB; ` +
        `${connections} connections. Medians of ${options.runs} (range), interleaved, a new process and schema each time, ` +
        "warmed up with the whole run under another session name."
    ]
  })
}
