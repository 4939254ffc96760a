/** What the recording proxy costs: its provider asked directly, through a bare proxy, and through Tachograph. */
import { Agent, request } from "node:http"
import * as Databases from "../harness/Databases.ts"
import * as Processes from "../harness/Processes.ts"
import * as Recording from "../harness/Recording.ts"
import * as Serve from "../harness/Serve.ts"
import { decimal, integer, median, print, progress, times } from "../harness/Table.ts"
import type { Options } from "./Options.ts"

const connections = 16

/** Sequential calls of one measurement of the time to the first byte. */
const sequentialCalls = 200

const kinds = [
  { name: "short answers", path: "/chat/completions", target: "≥ 0.3×" },
  { name: "streams of 200 chunks", path: "/messages", target: "≥ 0.6×" }
]

const body = JSON.stringify({
  model: "m",
  messages: [
    { role: "system", content: "Rules of the house. ".repeat(100) },
    { role: "user", content: "A question. ".repeat(50) }
  ]
})

const [apiKey = ""] = Recording.apiKeys

/** Sends one call. Resolves with the milliseconds to the first byte of the body, when the answer is complete. */
const call = (agent: Agent, url: string, session: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "x-tachograph-key": apiKey,
      "x-tachograph-session": session
    }
    const sent = request(url, { agent, method: "POST", headers }, (answer) => {
      let firstByteMs: number | undefined
      answer.on("data", () => (firstByteMs ??= performance.now() - startedAt)).on("error", reject)
      answer.on("end", () => {
        if (answer.statusCode === 200 && firstByteMs !== undefined) resolve(firstByteMs)
        else reject(new Error(`${url} was answered with ${answer.statusCode}`))
      })
    })
    sent.on("error", reject)
    sent.end(body)
  })

/** Calls per second over several connections, each with a conversation of its own. */
const throughput = async (url: string, seconds: number) => {
  const agent = new Agent({ keepAlive: true })
  const endAt = performance.now() + 1_000 * seconds
  let calls = 0
  const connection = async (_: unknown, index: number) => {
    for (; performance.now() < endAt; calls++) await call(agent, url, `session ${index}`)
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: connections }, connection))
  agent.destroy()
  return { calls, perSecond: (1_000 * calls) / (performance.now() - startedAt) }
}

const firstByte = async (url: string): Promise<number> => {
  const agent = new Agent({ keepAlive: true })
  const all: Array<number> = []
  for (let n = 0; n < sequentialCalls; n++) all.push(await call(agent, url, "latency"))
  agent.destroy()
  return median(all)
}

const outcomes = async (url: string): Promise<string> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = Array.from(text.matchAll(/^tachograph_proxy_calls_total\{outcome="([\w-]+)"\} (\d+)$/gm))
  return counts
    .flatMap(([, outcome, count]) => (count === "0" ? [] : [`${integer(Number(count))} ${outcome}`]))
    .join(", ")
}

export const proxy = async (options: Options): Promise<void> => {
  const baseline = (name: string, ...args: ReadonlyArray<string>) =>
    Processes.start(new URL(`../baselines/${name}.ts`, import.meta.url), args)
  const database = Databases.sqlite()
  const provider = await baseline("Provider")
  const bare = await baseline("BareProxy", provider.url)
  const served = await Serve.serve(Databases.urlOf(database), ["--proxy", "--upstream", `local=${provider.url}`])
  const rows: Array<ReadonlyArray<string>> = []
  let recorded = ""
  try {
    const sides = [
      { url: provider.url, cpu: () => 0 },
      { url: bare.url, cpu: () => bare.usage().cpu },
      { url: `${served.url}/proxy/local`, cpu: () => Processes.usageOf(served.pid).cpu }
    ]
    for (const { name, path, target } of kinds) {
      const perSecond = sides.map(() => [] as Array<number>)
      const latency = sides.map(() => [] as Array<number>)
      const cpuMs = sides.map(() => [] as Array<number>)
      // Run 0 is the warm-up.
      for (let run = 0; run <= options.runs; run++) {
        progress(`proxy: ${name}, ${run} of ${options.runs}`)
        for (const [index, side] of sides.entries()) {
          const before = side.cpu()
          const load = await throughput(side.url + path, options.seconds)
          const spent = side.cpu() - before
          const firstByteMs = await firstByte(side.url + path)
          if (run === 0) continue
          perSecond[index]!.push(load.perSecond)
          cpuMs[index]!.push(spent / load.calls)
          latency[index]!.push(firstByteMs)
        }
      }
      const [direct, bareCalls, through] = perSecond.map(median)
      const [, bareCpu, throughCpu] = cpuMs.map(median)
      const [directMs, bareMs, throughMs] = latency.map(median)
      rows.push([
        name,
        integer(direct!),
        integer(bareCalls!),
        integer(through!),
        times(through! / bareCalls!),
        target,
        decimal(bareCpu!),
        decimal(throughCpu!),
        decimal(directMs!),
        decimal(bareMs!),
        decimal(throughMs!),
        decimal(throughMs! - directMs!),
        "≤ 2"
      ])
    }
    recorded = await outcomes(served.url)
  } finally {
    await served.stop()
    await bare.stop()
    await provider.stop()
    await database.remove()
  }
  print({
    title: "The recording proxy",
    columns: [
      "calls",
      "direct, calls/s",
      "(d) bare proxy",
      "Tachograph",
      "÷ (d)",
      "target",
      "CPU ms a call, (d)",
      "Tachograph",
      "first byte, ms, direct",
      "(d) bare proxy",
      "Tachograph",
      "added",
      "target"
    ],
    rows,
    notes: [
      `\`tachograph serve --proxy\` on SQLite; requests of ${decimal(Buffer.byteLength(body) / 1e3, 1)} kB from one client. Calls per second ` +
        `over ${connections} connections for ${options.seconds} s; first byte as the median of ${sequentialCalls} calls, one after ` +
        `the other. Medians of ${options.runs} turns. What became of the calls: ${recorded}.`
    ]
  })
}
