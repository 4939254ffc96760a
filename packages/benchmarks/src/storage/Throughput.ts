/** Recording a run over HTTP, against the same server with pieces switched off. */
import * as Databases from "../harness/Databases.ts"
import { longest, type Options } from "../harness/Options.ts"
import * as Servers from "../harness/Servers.ts"
import { decimal, integer, median, megabytes, print, progress, spread, times } from "../harness/Table.ts"

interface Run {
  /** Megabytes of bodies in a second. */
  readonly speed: number
  /** Milliseconds of the server's processor time for an event. */
  readonly cpu: number
  readonly written: number
  readonly file: number
}

const record = async (
  bodies: ReadonlyArray<Buffer>,
  bytes: number,
  pieces: boolean,
  connections: number
): Promise<Run> => {
  const database = Databases.sqlite()
  try {
    const server = await Servers.start(database, { pieces })
    await Servers.sendAll(server, Servers.warmUp(bodies), connections)
    const before = server.used()
    const started = performance.now()
    await Servers.sendAll(server, bodies, connections)
    const seconds = (performance.now() - started) / 1_000
    const after = server.used()
    await server.stop()
    const cpu = (after.cpu - before.cpu) / bodies.length
    return {
      speed: bytes / 1e6 / seconds,
      cpu,
      written: after.written - before.written,
      file: Databases.sizeOf(Databases.fileOf(database))
    }
  } finally {
    await database.remove()
  }
}

/** One client that waits for each answer, and as many as an application with a few workers has. */
const connectionCounts = [1, 16, 64]

export const throughput = async (options: Options): Promise<void> => {
  for (const connections of connectionCounts) await throughputOver(options, connections)
}

const throughputOver = async (options: Options, connections: number): Promise<void> => {
  const { bodies, bytes, name } = longest(options)
  const on: Array<Run> = []
  const off: Array<Run> = []
  for (let run = 1; run <= options.runs; run++) {
    progress(`throughput: ${name} over HTTP into SQLite, connections: ${connections}, ${run} of ${options.runs}`)
    on.push(await record(bodies, bytes, true, connections))
    off.push(await record(bodies, bytes, false, connections))
  }
  const of = (runs: ReadonlyArray<Run>, key: keyof Run) => runs.map((each) => each[key])
  const row = (what: string, runs: ReadonlyArray<Run>) => [
    what,
    spread(of(runs, "speed")),
    decimal(bodies.length / (bytes / 1e6 / median(of(runs, "speed"))), 0),
    spread(of(runs, "cpu"), 2),
    megabytes(median(of(runs, "written")), 2),
    integer(median(of(runs, "file")))
  ]
  const ratio = (key: keyof Run) => median(of(on, key)) / median(of(off, key))
  print({
    title: `Recording ${name} over HTTP on SQLite, connections: ${connections}`,
    columns: [
      "server",
      "MB sent a second",
      "events a second",
      "CPU ms an event",
      "MB written to disk",
      "bytes of the file"
    ],
    rows: [
      row("as it is", on),
      row("pieces switched off", off),
      [
        "as it is ÷ off",
        times(ratio("speed")),
        "",
        times(ratio("cpu")),
        `1/${decimal(1 / ratio("written"), 0)}`,
        `1/${decimal(1 / ratio("file"), 0)}`
      ]
    ],
    notes: [
      `Medians of ${options.runs} (range), turn by turn, a new file and a new process each time. One client in another process ` +
        "sends one event after the other over one connection. Written: `write_bytes` of the server's `/proc/PID/io`, so the " +
        "database and its WAL together. Switched off: the same server and recorder, which mark nothing and so compress each " +
        "payload whole."
    ]
  })
}
