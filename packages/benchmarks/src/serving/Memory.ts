/** What `tachograph serve` takes of the memory. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import * as Databases from "../harness/Databases.ts"
import { longest } from "../harness/Options.ts"
import * as Processes from "../harness/Processes.ts"
import * as Recording from "../harness/Recording.ts"
import { clientOf, sendAll } from "../harness/Servers.ts"
import { print, progress, spread } from "../harness/Table.ts"
import type { Options } from "./Options.ts"

const connections = 16

/** How long a server that has started is left alone, in milliseconds. */
const idleFor = 2_000

/** Out of the sources, as `npm start` does it; or as it was installed, if that is where it is. */
const installed = process.env["TACHOGRAPH_BENCHMARK_MAIN"]
const main = installed ?? fileURLToPath(new URL("src/main.ts", import.meta.resolve("@tachograph/server/package.json")))

/** Sources that were compiled before need not be compiled again, in memory that stays. */
const compiled = installed === undefined ? { NODE_COMPILE_CACHE: resolve("node_modules/.cache/node") } : {}

/** As an operator starts it; `place` as a person would write it. */
const serve = async (storage: string) => {
  const [apiKey = ""] = Recording.apiKeys
  const child = spawn(process.execPath, [main, "serve", "--port", "0", "--storage", storage], {
    env: { ...process.env, ...compiled, TACHOGRAPH_API_KEY: apiKey },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = once(child, "exit")
  const url = await Promise.race([
    new Promise<string>((found) => {
      let output = ""
      child.stdout.on("data", (chunk) => {
        const match = /^Tachograph +(\S+)$/m.exec((output += chunk))
        if (match !== null) found(match[1]!)
      })
    }),
    ended.then(() => {
      throw new Error(`tachograph serve has ended`)
    })
  ])
  const stop = async () => {
    child.kill("SIGTERM")
    await ended
  }
  return { pid: child.pid!, url, stop }
}

interface Taken {
  readonly idle: number
  readonly peak: number
}

const measure = async (storage: string, bodies: ReadonlyArray<Buffer>): Promise<Taken> => {
  const { pid, stop, url } = await serve(storage)
  const client = clientOf(url)
  try {
    await new Promise((done) => setTimeout(done, idleFor))
    const idle = Processes.memoryOf(pid, "VmRSS")
    await client.put("/api/v1/fingerprints", Recording.fingerprint)
    await sendAll(client, bodies, connections)
    return { idle, peak: Processes.memoryOf(pid, "VmHWM") }
  } finally {
    client.close()
    await stop()
  }
}

export const memory = async (options: Options): Promise<void> => {
  const { bodies, name } = longest(options)
  const makers = [
    Databases.sqlite,
    ...(options.postgres === undefined ? [] : [() => Databases.postgres(options.postgres!.url)])
  ]
  // Compiles the sources, where they are not compiled yet.
  execFileSync(process.execPath, [main, "--version"], { env: { ...process.env, ...compiled } })
  const rows: Array<ReadonlyArray<string>> = []
  for (const make of makers) {
    const taken: Array<Taken> = []
    let kind = ""
    for (let run = 1; run <= options.runs; run++) {
      const database = make()
      kind = database.kind
      progress(`memory: ${kind}, ${run} of ${options.runs}`)
      taken.push(await measure(Databases.urlOf(database), bodies).finally(database.remove))
    }
    const megabytesOf = (key: keyof Taken) => spread(taken.map((each) => each[key] / 1e6))
    rows.push([kind, megabytesOf("idle"), "≤ 120", megabytesOf("peak"), "≤ 300"])
  }
  print({
    title: `Memory of one server process, MB`,
    columns: ["in", "idle", "asked", "at most", "asked"],
    rows,
    notes: [
      `\`tachograph serve\`, its resident memory by Linux's count: ${idleFor / 1_000} s after its start, and the most while ${name} is recorded over ` +
        `${connections} connections. Medians of ${options.runs} (range), a new process each time.`
    ]
  })
}
