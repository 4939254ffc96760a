/** What it takes of the memory to record into a great many sessions, and that it is bounded. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Options } from "../harness/Options.ts"
import { decimal, integer, print, progress } from "../harness/Table.ts"

/** What `MemoryProcess.ts` says along the way. */
export interface Sample {
  readonly sessions: number
  /** Bytes, after a collection. */
  readonly heap: number
  readonly buffers: number
  readonly rss: number
  readonly seconds: number
}

const sessions = 100_000
const mebibyte = 2 ** 20
const bounds = [
  ["64 MiB, as it comes", 64 * mebibyte],
  ["8 MiB", 8 * mebibyte],
  ["0", 0]
] as const

const script = fileURLToPath(new URL("MemoryProcess.ts", import.meta.url))

const run = async (bound: number): Promise<ReadonlyArray<Sample>> => {
  const samples: Array<Sample> = []
  const child = fork(script, [String(bound), String(sessions)], { execArgv: ["--expose-gc"] })
  child.on("message", (sample) => samples.push(sample as Sample))
  const [code] = (await once(child, "exit")) as [number | null]
  if (code !== 0) throw new Error(`The process that records into ${sessions} sessions ended with ${code}`)
  return samples
}

export const memory = async (_options: Options): Promise<void> => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const [label, bound] of bounds) {
    progress(`memory: ${integer(sessions)} sessions, bound ${label}`)
    const samples = await run(bound)
    const before = samples[0]!
    for (const sample of samples.slice(1)) {
      const grown = sample.heap + sample.buffers - before.heap - before.buffers
      rows.push([
        label,
        integer(sample.sessions),
        decimal((sample.heap + sample.buffers) / mebibyte, 1),
        decimal(grown / mebibyte, 1),
        decimal(sample.rss / mebibyte, 1),
        integer(sample.sessions / (sample.seconds - before.seconds))
      ])
    }
  }
  print({
    title: `Memory, one short event in each of ${integer(sessions)} sessions`,
    columns: [
      "bound",
      "sessions",
      "MiB of heap and buffers",
      "more than at the start",
      "MiB of RSS",
      "events a second"
    ],
    rows,
    notes: [
      "A process of its own over SQLite, 256 requests at a time, measured after a collection. At the start the server is " +
        "open and has recorded 1,000 events into one session. A run that takes too long ends with the sessions that it has."
    ]
  })
}
