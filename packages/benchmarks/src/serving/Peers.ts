/** Recorders that others make, beside this one and simpler servers, which all get the same calls. */
import { setTimeout } from "node:timers/promises"
import { Bodies } from "../harness/Bodies.ts"
import { formats } from "../harness/Formats.ts"
import { largest } from "../harness/Options.ts"
import * as Recording from "../harness/Recording.ts"
import { integer, median, megabytes, print, progress, spread } from "../harness/Table.ts"
import type { Workload } from "../harness/Workload.ts"
import * as CodingRun from "./CodingRun.ts"
import { accepted, ratioOf } from "./Comparison.ts"
import type { Options } from "./Options.ts"
import * as Recorders from "./Recorders.ts"
import * as Servers from "./Servers.ts"

const fewConnections = 8
const manyConnections = 64
const connectionCounts = [1, fewConnections, manyConnections]

/** The figures of each run by what was measured: `calls/s, 8 connections`. */
type Figures = Record<string, Array<number>>

const perSecond = (connections: number) => `calls/s, ${connections}`
const cpu = (connections: number) => `CPU ms, ${connections}`
const codingRun = "coding run, MB/s"

interface Row extends Recorders.Recorder {
  readonly figures: Figures
}

const add = ({ figures }: Row, name: string, value: number) => (figures[name] ??= []).push(value)

interface Saying {
  readonly properties: {
    readonly inputs: { readonly messages: readonly [{ readonly content: string }] }
    readonly output: { readonly content: readonly [{ readonly text: string }] }
  }
}

/** Fails unless a recorder that others make answers with what was said in a call. Returns the calls sent. */
const checkRead = async ({ server }: Servers.Open, { format, readPath }: Row): Promise<number> => {
  if (readPath === undefined) return 0
  const { calls, path, requestsOf } = formats[format]
  const events = new Bodies(await Recording.fingerprintId()).next(calls)
  const { inputs, output } = (JSON.parse(events[0]!.toString()) as Saying).properties
  const [request] = requestsOf(events)
  await server.post(path, request!)
  const answer = (await server.get(readPath(request!))).toString()
  if (answer.includes(inputs.messages[0].content) && answer.includes(output.content[0].text)) return calls
  throw new Error(`${readPath(request!)} answers without what was sent: ${answer.slice(0, 200)}`)
}

const checkKept = async (opened: Servers.Open, { kept }: Row, sent: number): Promise<void> => {
  const count = await kept?.(opened)
  if (count !== undefined && count < sent) throw new Error(`of ${integer(sent)} calls, it kept ${integer(count)}`)
}

/** CPU time of the server (ms) once it has done what it does in the background for the calls before, or after 10 s. */
const settledCpu = async ({ usage }: Servers.Open["server"]): Promise<number> => {
  let { cpu } = usage()
  for (let tries = 0; tries < 50; tries++) {
    await setTimeout(200)
    const before = cpu
    cpu = usage().cpu
    if (!(cpu - before > 10)) break
  }
  return cpu
}

const measureLoads = async (opened: Servers.Open, row: Row, seconds: number): Promise<void> => {
  const { server } = opened
  const { calls } = formats[row.format]
  let sent = await checkRead(opened, row)
  const load = async (connections: number) => {
    const cpuBefore = await settledCpu(server)
    const result = await accepted({ url: server.url, connections, seconds, format: row.format })
    // A recorder may take what it gets again for the same call.
    sent += calls * (result.accepted - result.repeated)
    const spent = (await settledCpu(server)) - cpuBefore
    return { perSecond: calls * result.perSecond, cpu: spent / calls / result.accepted }
  }
  // Many lines over many connections are more than Tachograph queues, so that it refuses some.
  await load(fewConnections)
  await load(calls === 1 ? manyConnections : fewConnections)
  for (const connections of calls === 1 ? connectionCounts : [fewConnections]) {
    const figures = await load(connections)
    add(row, perSecond(connections), figures.perSecond)
    add(row, cpu(connections), figures.cpu)
  }
  await checkKept(opened, row, sent)
}

const measure = async (row: Row, bodies: ReadonlyArray<Buffer>, seconds: number): Promise<void> => {
  await Servers.using(row.contender, (opened) => measureLoads(opened, row, seconds))
  const format = formats[row.format]
  if (format.calls > 1) return
  const took = await CodingRun.record(row.contender, bodies, fewConnections, format, (opened) =>
    checkKept(opened, row, 2 * bodies.length)
  )
  add(row, codingRun, bytesOf(bodies) / 1e6 / took)
}

const bytesOf = (bodies: ReadonlyArray<Buffer>) => bodies.reduce((sum, { length }) => sum + length, 0)

const columns = [...connectionCounts.flatMap((connections) => [perSecond(connections), cpu(connections)]), codingRun]
const ratioColumns = [...connectionCounts.map(perSecond), codingRun]

const digitsOf = (column: string) => (column.startsWith("calls") ? 0 : 2)

type Rows = Partial<Record<keyof ReturnType<typeof Recorders.make>, Row>>

/** The one with the highest median. */
const fastest = (rows: ReadonlyArray<Row | undefined>, column: string): Row | undefined => {
  const medianOf = (row: Row | undefined) => median(row?.figures[column] ?? [-1])
  return rows.toSorted((a, b) => medianOf(b) - medianOf(a))[0]
}

const ratioRow = (name: string, a: Row | undefined, baselineOf: (column: string) => Row | undefined) => [
  name,
  ...ratioColumns.map((column) => {
    const values = a?.figures[column]
    const baseline = baselineOf(column)?.figures[column]
    return values === undefined || baseline === undefined ? "" : ratioOf(values, baseline)
  })
]

const ratiosOf = ({ aigne, aigneMany, fastifyPg, genkit, httpSqlite, postgres, sqlite, sqliteMany }: Rows) => [
  ratioRow("SQLite ÷ the fastest peer", sqlite, (column) => fastest([aigne, genkit], column)),
  ratioRow("20 in a request ÷ the fastest peer", sqliteMany, (column) => fastest([aigne, aigneMany, genkit], column)),
  ratioRow("SQLite ÷ AIGNE", sqlite, () => aigne),
  ratioRow("SQLite ÷ (b)", sqlite, () => httpSqlite),
  ratioRow("Postgres ÷ (c)", postgres, () => fastifyPg)
]

const printAll = (
  rows: Rows,
  failures: ReadonlyArray<string>,
  { runs, seconds }: Options,
  { bodies, bytes, name }: Workload
): void => {
  print({
    title: "Recorders",
    columns: ["server", ...columns],
    rows: Object.values(rows).map(({ contender, figures }) => [
      contender.name,
      ...columns.map((column) => (figures[column] === undefined ? "" : spread(figures[column], digitsOf(column))))
    ]),
    notes: [
      `Calls of 4 KB by the number of connections, ${seconds} s each, after twice as long a warm-up; CPU time of the server for a call, with what it ` +
        `does for it afterwards, without that of Postgres. ${name}: ${integer(bodies.length)} events, ${megabytes(bytes, 1)} MB as bodies of Tachograph, ` +
        `${fewConnections} connections, after a first time under another session name. Medians of ${runs} (range), interleaved, a new ` +
        "process and store each time. Each was asked what it has stored: no fewer calls than it had acknowledged.",
      ...failures
    ]
  })
  print({
    title: "Ratios",
    columns: ["", ...ratioColumns],
    rows: ratiosOf(rows),
    notes: ["Ratios of the medians, and the range of the ratios of each run."]
  })
}

export const peers = async (options: Options): Promise<void> => {
  const workload = largest(options)
  const bodies = workload.bodies.map(CodingRun.withoutNul)
  const rows: Rows = Object.fromEntries(
    Object.entries(Recorders.make(options.postgres?.url)).map(([key, recorder]) => [key, { ...recorder, figures: {} }])
  )
  const failures: Array<string> = []
  for (let run = 1; run <= options.runs; run++) {
    for (const [key, row] of Object.entries(rows)) {
      progress(`peers: ${row.contender.name}, ${run} of ${options.runs}`)
      try {
        await measure(row, bodies, options.seconds)
      } catch (error) {
        // What others make may fail.
        if (row.readPath === undefined) process.exitCode = 1
        delete rows[key as keyof Rows]
        failures.push(`${row.contender.name} is left out: ${(error as Error).message}`)
        progress(failures.at(-1)!)
      }
    }
  }
  printAll(rows, failures, options, { ...workload, bodies, bytes: bytesOf(bodies) })
}
