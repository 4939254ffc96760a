/** How long a host's own route, and `/health`, wait for recording. */
import { execFileSync } from "node:child_process"
import { setTimeout as wait } from "node:timers/promises"
import * as Databases from "../harness/Databases.ts"
import * as Load from "../harness/Load.ts"
import * as Probe from "../harness/Probe.ts"
import * as Recording from "../harness/Recording.ts"
import * as Serve from "../harness/Serve.ts"
import * as Harness from "../harness/Servers.ts"
import { decimal, integer, megabytes, median, print, progress, spread } from "../harness/Table.ts"
import type { Options } from "./Options.ts"

const connections = 16

/** What every sync of the disk takes longer (ms). */
const delaysMs = [0, 10, 30]

/** Undefined where strace is missing, or may not trace. */
const straceWith = (delayMs: number): ReadonlyArray<string> | undefined => {
  const inject = `inject=fsync,fdatasync:delay_exit=${1_000 * delayMs}`
  const strace = ["strace", "-D", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", inject]
  try {
    execFileSync(strace[0]!, [...strace.slice(1), "true"], { stdio: "ignore" })
    return strace
  } catch {
    return undefined
  }
}

const percentile99 = (sorted: ReadonlyArray<number>): number => sorted[Math.floor(0.99 * sorted.length)] ?? NaN

interface Run {
  readonly alone: ReadonlyArray<number>
  readonly recording: ReadonlyArray<number>
  readonly perSecond: number
}

const measure = async (seconds: number, wrapper: ReadonlyArray<string>): Promise<Run> => {
  const database = Databases.sqlite()
  const host = await Harness.startHost(Databases.fileOf(database), wrapper)
  try {
    const load = { url: host.url, connections }
    // The load process makes its bodies before it sends them, and keeps them for the next load.
    await Load.run({ ...load, seconds })
    const own = `${host.url}/own`
    const alone = await Probe.during(own, wait(1_000 * seconds))
    let result: Load.LoadResult | undefined
    const recording = await Probe.during(
      own,
      Load.run({ ...load, seconds }).then((given) => (result = given))
    )
    return { alone, recording, perSecond: result!.perSecond }
  } finally {
    await host.stop()
    await database.remove()
  }
}

export const host = async (options: Options): Promise<void> => {
  const rows: Array<ReadonlyArray<string>> = []
  const leftOut: Array<string> = []
  for (const delayMs of delaysMs) {
    const wrapper = delayMs === 0 ? [] : straceWith(delayMs)
    if (wrapper === undefined) {
      leftOut.push(`Left out: syncs that take ${delayMs} ms longer, which takes strace and the permission to trace.`)
      continue
    }
    const runs: Array<Run> = []
    for (let run = 1; run <= options.runs; run++) {
      progress(`host: a sync takes ${delayMs} ms longer, ${run} of ${options.runs}`)
      runs.push(await measure(options.seconds, wrapper))
    }
    const of = (value: (times: ReadonlyArray<number>) => number, key: "alone" | "recording") =>
      runs.map((run) => value(run[key]))
    const added = (value: (times: ReadonlyArray<number>) => number) =>
      decimal(median(of(value, "recording")) - median(of(value, "alone")), 1)
    rows.push([
      `${delayMs} ms`,
      spread(of(median, "alone"), 1),
      spread(of(median, "recording"), 1),
      added(median),
      "≤ 1",
      spread(of(percentile99, "alone"), 1),
      spread(of(percentile99, "recording"), 1),
      added(percentile99),
      "≤ 10",
      spread(
        runs.map(({ perSecond }) => perSecond),
        0
      )
    ])
  }
  print({
    title: "An Express application's own route while it records",
    columns: [
      "a sync takes longer by",
      "p50 ms alone",
      "recording",
      "added",
      "target",
      "p99 ms alone",
      "recording",
      "added",
      "target",
      "events/s"
    ],
    rows,
    notes: [
      `One request after the other to the application's own route; ${connections} connections record bodies of 4 KB in SQLite. \`strace\` delays ` +
        `each fsync and fdatasync. Medians of ${options.runs} (range), ${options.seconds} s each, the same process alone and recording.`,
      ...leftOut
    ]
  })
}

const numbered = (count: number, item: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => item(n)).join(",")

/** Bodies that take long to read, by what is in them. */
const bodies: ReadonlyArray<readonly [name: string, inputs: () => string]> = [
  ["2.5 million keys", () => `{${numbered(2_500_000, (n) => `"k${n}":0`)}}`],
  ["9 million empty arrays", () => `{"messages":[${"[],".repeat(8_999_999)}[]]}`],
  ["5 million levels", () => `{"messages":${"[".repeat(5_000_000)}${"]".repeat(5_000_000)}}`],
  ["300,000 messages", () => `{"messages":[${numbered(300_000, (n) => `{"role":"user","content":"message ${n}"}`)}]}`]
]

export const largeBodies = async (options: Options): Promise<void> => {
  const fingerprintId = await Recording.fingerprintId()
  const database = Databases.sqlite()
  const served = await Serve.serve(Databases.urlOf(database))
  const rows: Array<ReadonlyArray<string>> = []
  try {
    const client = Harness.clientOf(served.url)
    await client.put("/api/v1/fingerprints", Recording.fingerprint)
    client.close()
    for (const [name, inputs] of bodies) {
      const worst: Array<number> = []
      const took: Array<number> = []
      const statuses = new Set<number>()
      const properties = `{"api":"openai-responses","inputs":${inputs()},"output":{}}`
      const body = `{"event_name":"llm","fingerprint_id":"${fingerprintId}","session":"large","properties":${properties}}`
      for (let run = 1; run <= options.runs; run++) {
        progress(`bodies: ${name}, ${run} of ${options.runs}`)
        const startedAt = performance.now()
        const sending = fetch(`${served.url}/api/v1/events`, { method: "POST", headers: Recording.headers, body })
        const times = await Probe.during(
          `${served.url}/health`,
          sending.then(async (response) => {
            await response.text()
            statuses.add(response.status)
            took.push(performance.now() - startedAt)
          })
        )
        worst.push(times.at(-1)!)
      }
      rows.push([
        name,
        megabytes(Buffer.byteLength(body), 1),
        Array.from(statuses).join(", "),
        integer(median(took)),
        spread(worst, 1),
        "≤ 100"
      ])
    }
  } finally {
    await served.stop()
    await database.remove()
  }
  print({
    title: "/health while a body is taken",
    columns: ["body", "MB", "status", "answered after ms", "longest /health, ms", "target"],
    rows,
    notes: [
      `\`tachograph serve\` on SQLite; one \`GET /health\` after the other until the body is answered. Medians of ${options.runs} (range).`
    ]
  })
}
