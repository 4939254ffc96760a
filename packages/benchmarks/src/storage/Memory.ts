/** Memory used when recording into many sessions, with several sizes of the session cache. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Options } from "../harness/Options.ts"
import { decimal, integer, print, progress } from "../harness/Table.ts"

/** A message of `MemoryProcess.ts`. */
export interface Sample {
  readonly sessions: number
  /** Bytes, after a garbage collection. */
  readonly heap: number
  readonly buffers: number
  readonly rss: number
  readonly seconds: number
}

const sessions = 100_000
const mebibyte = 2 ** 20
const cacheSizes = [
  ["64 MiB (default)", 64 * mebibyte],
  ["8 MiB", 8 * mebibyte],
  ["0", 0]
] as const

const script = fileURLToPath(new URL("MemoryProcess.ts", import.meta.url))

const run = async (bound: number): Promise<ReadonlyArray<Sample>> => {
  const samples: Array<Sample> = []
  const child = fork(script, [String(bound), String(sessions)], { execArgv: ["--expose-gc"] })
  child.on("message", (sample) => samples.push(sample as Sample))
  const [code] = (await once(child, "exit")) as [number | null]
  if (code !== 0) throw new Error(`MemoryProcess.ts exited with ${code}`)
  return samples
}

export const memory = async (_options: Options): Promise<void> => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const [label, bound] of cacheSizes) {
    progress(`memory: ${integer(sessions)} sessions, cache ${label}`)
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
    columns: ["session cache", "sessions", "heap and buffers, MiB", "growth, MiB", "RSS, MiB", "events/s"],
    rows,
    notes: [
      "A new process over SQLite, 256 concurrent requests, measured after a garbage collection. Growth is relative to the " +
        "start, when 1,000 events have been recorded into one session. A run stops after two minutes."
    ]
  })
}
