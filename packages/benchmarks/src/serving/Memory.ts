/** Memory of `tachograph serve`. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Databases from "../harness/Databases.ts"
import { largest } from "../harness/Options.ts"
import * as Processes from "../harness/Processes.ts"
import * as Recording from "../harness/Recording.ts"
import * as Serve from "../harness/Serve.ts"
import { clientOf, sendAll } from "../harness/Servers.ts"
import { print, progress, spread } from "../harness/Table.ts"
import type { Options } from "./Options.ts"

const connections = 16

/** How long a started server stays idle before its memory is measured (ms). */
const idleMs = 2_000

interface Measured {
  /** The proportional set (PSS): what other processes share of it counts in part. */
  readonly idle: number
  readonly resident: number
  readonly peak: number
}

const measure = async (node: string, storage: string, bodies: ReadonlyArray<Buffer>): Promise<Measured> => {
  const { pid, stop, url } = await Serve.serve(storage, [], node)
  const client = clientOf(url)
  try {
    await new Promise((done) => setTimeout(done, idleMs))
    const idle = Processes.memoryOf(pid, "Pss")
    const resident = Processes.memoryOf(pid, "VmRSS")
    await client.put("/api/v1/fingerprints", Recording.fingerprint)
    await sendAll(client, bodies, connections)
    return { idle, resident, peak: Processes.memoryOf(pid, "VmHWM") }
  } finally {
    client.close()
    await stop()
  }
}

/** Calls `use` with a copy of Node that no other process runs. */
const withOwnNode = async (use: (node: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "memory-"))
  const node = join(folder, "node")
  copyFileSync(process.execPath, node)
  await use(node).finally(() => rmSync(folder, { recursive: true }))
}

const measureAll = async (node: string, options: Options): Promise<void> => {
  const { bodies, name } = largest(options)
  const makers = [
    Databases.sqlite,
    ...(options.postgres === undefined ? [] : [() => Databases.postgres(options.postgres!.url)])
  ]
  Serve.fillCompileCache()
  const rows: Array<ReadonlyArray<string>> = []
  for (const make of makers) {
    const measured: Array<Measured> = []
    let kind = ""
    for (let run = 1; run <= options.runs; run++) {
      const database = make()
      kind = database.kind
      progress(`memory: ${kind}, ${run} of ${options.runs}`)
      measured.push(await measure(node, Databases.urlOf(database), bodies).finally(database.remove))
    }
    const megabytesOf = (key: keyof Measured) => spread(measured.map((each) => each[key] / 1e6))
    rows.push([kind, megabytesOf("idle"), "≤ 110", megabytesOf("resident"), megabytesOf("peak"), "≤ 300"])
  }
  print({
    title: `Memory of one server process, MB`,
    columns: ["storage", "idle, proportional", "target", "idle, resident", "peak, resident", "target"],
    rows,
    notes: [
      `\`tachograph serve\` (Linux), ${idleMs / 1_000} s after it listens, and the peak while recording ${name} over ${connections} ` +
        `connections. Medians of ${options.runs} (range), a new process each time, which no other process shares its Node with.`
    ]
  })
}

export const memory = (options: Options): Promise<void> => withOwnNode((node) => measureAll(node, options))
