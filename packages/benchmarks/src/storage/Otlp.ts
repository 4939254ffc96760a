/** A run as three instrumentations tell it by OpenTelemetry, compared with the same run as events: the file, and the time. */
import { setTimeout } from "node:timers/promises"
import * as Databases from "../harness/Databases.ts"
import { largest, type Options } from "../harness/Options.ts"
import * as OtlpBodies from "../harness/OtlpBodies.ts"
import * as Servers from "../harness/Servers.ts"
import { decimal, integer, median, megabytes, print, progress, spread } from "../harness/Table.ts"
import * as StoredBytes from "./StoredBytes.ts"

const connections = 8

/** How long the server keeps what may complete a call, and how long it takes at most until that is gone (ms). */
const waitMs = 1_000
const goneMs = 3_000

interface Run {
  readonly callsPerSecond: number
  readonly cpuMs: number
  readonly stored: StoredBytes.StoredBytes
}

interface Contender {
  readonly name: string
  readonly path: string
  readonly bodiesOf: (events: ReadonlyArray<Buffer>) => ReadonlyArray<Buffer>
}

const contenders: ReadonlyArray<Contender> = [
  { name: "events", path: "/api/v1/events", bodiesOf: (events) => events },
  ...OtlpBodies.emitters.map((emitter) => ({
    name: `OpenTelemetry, ${emitter.name}`,
    path: "/otlp/v1/traces",
    bodiesOf: (events: ReadonlyArray<Buffer>) =>
      events.map((body, index) => Buffer.from(JSON.stringify(OtlpBodies.postOf(body, index, emitter))))
  }))
]

const record = async (events: ReadonlyArray<Buffer>, { bodiesOf, path }: Contender): Promise<Run> => {
  const database = Databases.sqlite()
  const bodies = bodiesOf(events)
  try {
    const server = await Servers.serve(database, ["--otlp-wait", `${waitMs / 1_000}s`])
    const before = server.usage()
    const startedAt = performance.now()
    await Servers.sendAll(server, bodies, connections, path)
    const seconds = (performance.now() - startedAt) / 1_000
    const after = server.usage()
    await setTimeout(waitMs + goneMs)
    await server.stop()
    return {
      callsPerSecond: events.length / seconds,
      cpuMs: (after.cpu - before.cpu) / events.length,
      stored: await StoredBytes.measure(database)
    }
  } finally {
    await database.remove()
  }
}

const bytesOf = (parts: StoredBytes.StoredBytes["parts"], pattern: RegExp): number =>
  parts.reduce((sum, { bytes, name }) => (pattern.test(name) ? sum + bytes : sum), 0)

/** Without pages that are free: they are used again. */
const usedBytes = ({ stored: { parts, total } }: Run): number => total - bytesOf(parts, /^free pages$/)

/** When the keys are deleted by which a call is recorded once. */
const laterBytes = (run: Run): number => usedBytes(run) - bytesOf(run.stored.parts, /^idempotency_keys/)

export const otlp = async (options: Options): Promise<void> => {
  const { bodies, name } = largest(options)
  const runs = contenders.map((): Array<Run> => [])
  for (let run = 1; run <= options.runs; run++) {
    for (const [index, contender] of contenders.entries()) {
      progress(`otlp: ${name} as ${contender.name}, ${run} of ${options.runs}`)
      runs[index]!.push(await record(bodies, contender))
    }
  }
  const sizes = runs.map((each) => median(each.map(usedBytes)))
  const later = runs.map((each) => median(each.map(laterBytes)))
  const rates = runs.map((each) => median(each.map(({ callsPerSecond }) => callsPerSecond)))
  print({
    title: `${name} by OpenTelemetry, SQLite`,
    columns: ["told as", "MB stored", "÷ events", "a day later", "calls/s", "÷ events", "server CPU per call, ms"],
    rows: contenders.map((contender, index) => [
      contender.name,
      megabytes(sizes[index]!, 3),
      decimal(sizes[index]! / sizes[0]!, 2),
      decimal(later[index]! / later[0]!, 2),
      spread(runs[index]!.map(({ callsPerSecond }) => callsPerSecond)),
      decimal(rates[index]! / rates[0]!, 2),
      decimal(median(runs[index]!.map(({ cpuMs }) => cpuMs)), 2)
    ]),
    notes: [
      `${integer(bodies.length)} calls, each in a post of its own with the steps beside it (an agent, and each tool that answered), in JSON; ` +
        `${connections} connections, \`tachograph serve\`. Medians of ${options.runs} (range), interleaved, a new file each time. ` +
        "Without free pages. The keys by which a call is recorded once are deleted after a day."
    ]
  })
}
