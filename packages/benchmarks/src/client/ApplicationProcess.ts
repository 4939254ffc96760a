/**
 * An application that asks a model provider, as a process: `ApplicationProcess.ts PROVIDER [TACHOGRAPH KEY]`. With a Tachograph it
 * records what it asks. Each call has a question of its own, so that each is a session of its own.
 */
import { createRecorder } from "@tachograph/client"
import { once } from "node:events"
import type { ApplicationReply, ApplicationRequest, Asked } from "./Application.ts"

const [provider = "", url, apiKey = ""] = process.argv.slice(2)

const recorder = url === undefined ? undefined : createRecorder({ url, apiKey, agent: "benchmark" })
const send = recorder?.fetch ?? fetch

const rules = "Rules of the house. ".repeat(100)
let asked = 0

/** A call with a question of its own. */
const call = (path: string, options: object) => {
  const content = `Question ${asked++} of ${process.pid}. ${"What does it say? ".repeat(30)}`
  const messages = [
    { role: "system", content: rules },
    { role: "user", content }
  ]
  const headers = { authorization: "Bearer key" }
  const body = JSON.stringify({ model: "m", messages, ...options })
  return send(provider + path, { method: "POST", headers, body })
}

const ask = async (): Promise<number> => {
  const startedAt = performance.now()
  const answer = await call("/chat/completions", {})
  await answer.json()
  return performance.now() - startedAt
}

const stream = async (): Promise<number> => {
  const startedAt = performance.now()
  const answer = await call("/messages", { stream: true })
  let firstChunkMs: number | undefined
  for await (const _ of answer.body!) firstChunkMs ??= performance.now() - startedAt
  return firstChunkMs!
}

const load = async (inFlight: number, seconds: number): Promise<Asked> => {
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const endAt = startedAt + 1_000 * seconds
  const durations: Array<number> = []
  const one = async () => {
    while (performance.now() < endAt) durations.push(await ask())
  }
  await Promise.all(Array.from({ length: inFlight }, one))
  const { system, user } = process.cpuUsage(cpuBefore)
  const ms = performance.now() - startedAt
  return { durations, perSecond: (1_000 * durations.length) / ms, cpuMs: (user + system) / 1_000 / durations.length }
}

const reply = async (request: ApplicationRequest): Promise<ApplicationReply> => {
  if (request.type === "load") return { type: "asked", asked: await load(request.inFlight, request.seconds) }
  if (request.type === "stream") return { type: "streamed", firstChunkMs: await stream() }
  await recorder?.flush({ timeoutMs: 120_000 })
  return { type: "flushed", counters: recorder?.counters() }
}

process.on("message", (request: ApplicationRequest) => void reply(request).then((answer) => process.send!(answer)))
process.send!({ type: "ready" })
await once(process, "disconnect")
process.exit(0)
