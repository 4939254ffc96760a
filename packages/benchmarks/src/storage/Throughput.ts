/** Recording a run over HTTP, compared with the same server without deduplication. */
import * as Databases from "../harness/Databases.ts"
import { largest, type Options } from "../harness/Options.ts"
import * as Servers from "../harness/Servers.ts"
import { decimal, integer, median, megabytes, print, progress, spread, times } from "../harness/Table.ts"

interface Run {
  /** Bodies, in MB per second. */
  readonly rate: number
  /** CPU time of the server per event (ms). */
  readonly cpuMs: number
  readonly writtenBytes: number
  readonly fileBytes: number
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
    await Servers.sendAll(server, Servers.warmUpBodies(bodies), connections)
    const before = server.usage()
    const startedAt = performance.now()
    await Servers.sendAll(server, bodies, connections)
    const seconds = (performance.now() - startedAt) / 1_000
    const after = server.usage()
    await server.stop()
    return {
      rate: bytes / 1e6 / seconds,
      cpuMs: (after.cpu - before.cpu) / bodies.length,
      writtenBytes: after.written - before.written,
      fileBytes: Databases.sizeOf(Databases.fileOf(database))
    }
  } finally {
    await database.remove()
  }
}

/** One sequential client, and as many as applications with several workers have. */
const connectionCounts = [1, 16, 64]

export const throughput = async (options: Options): Promise<void> => {
  for (const connections of connectionCounts) await throughputOver(options, connections)
}

const throughputOver = async (options: Options, connections: number): Promise<void> => {
  const { bodies, bytes, name } = largest(options)
  const on: Array<Run> = []
  const off: Array<Run> = []
  for (let run = 1; run <= options.runs; run++) {
    progress(`throughput: ${name} over HTTP into SQLite, ${connections} connections, ${run} of ${options.runs}`)
    on.push(await record(bodies, bytes, true, connections))
    off.push(await record(bodies, bytes, false, connections))
  }
  const of = (runs: ReadonlyArray<Run>, key: keyof Run) => runs.map((each) => each[key])
  const row = (label: string, runs: ReadonlyArray<Run>) => [
    label,
    spread(of(runs, "rate")),
    decimal(bodies.length / (bytes / 1e6 / median(of(runs, "rate"))), 0),
    spread(of(runs, "cpuMs"), 2),
    megabytes(median(of(runs, "writtenBytes")), 2),
    integer(median(of(runs, "fileBytes")))
  ]
  const ratio = (key: keyof Run) => median(of(on, key)) / median(of(off, key))
  print({
    title: `Recording ${name} over HTTP on SQLite, ${connections} connections`,
    columns: ["server", "MB/s sent", "events/s", "CPU ms per event", "MB written to disk", "file size, bytes"],
    rows: [
      row("with pieces", on),
      row("without pieces", off),
      [
        "with ÷ without",
        times(ratio("rate")),
        "",
        times(ratio("cpuMs")),
        `1/${decimal(1 / ratio("writtenBytes"), 0)}`,
        `1/${decimal(1 / ratio("fileBytes"), 0)}`
      ]
    ],
    notes: [
      `Medians of ${options.runs} (range), interleaved, a new file and process each time. Written: \`write_bytes\` of the ` +
        "server's `/proc/PID/io`, the database and its WAL together. Without pieces: the same server, which compresses each " +
        "payload as a whole."
    ]
  })
}
