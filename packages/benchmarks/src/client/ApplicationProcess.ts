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

const ask = async (): Promise<number> => {
  const content = `Question ${asked++} of ${process.pid}. ${"What does it say? ".repeat(30)}`
  const messages = [
    { role: "system", content: rules },
    { role: "user", content }
  ]
  const startedAt = performance.now()
  const init = {
    method: "POST",
    headers: { authorization: "Bearer key" },
    body: JSON.stringify({ model: "m", messages })
  }
  const answer = await send(`${provider}/chat/completions`, init)
  await answer.json()
  return performance.now() - startedAt
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
  await recorder?.flush({ timeoutMs: 120_000 })
  return { type: "flushed", counters: recorder?.counters() }
}

process.on("message", (request: ApplicationRequest) => void reply(request).then((answer) => process.send!(answer)))
process.send!({ type: "ready" })
await once(process, "disconnect")
process.exit(0)
