/** `MemoryProcess.ts CACHE_BYTES SESSIONS`: records a short event into each session and reports the memory used. */
import { SessionCacheBytes } from "@tachograph/core"
import * as Layer from "effect/Layer"
import * as Databases from "../harness/Databases.ts"
import type { Sample } from "./Memory.ts"
import * as Recording from "../harness/Recording.ts"

const [cacheBytes = 0, sessions = 0] = process.argv.slice(2).map(Number)
// Exit with the parent.
process.once("disconnect", () => process.exit(1))
const database = Databases.sqlite()
const recording = await Recording.open(Layer.merge(database.storage, Layer.succeed(SessionCacheBytes, cacheBytes)))
const id = await Recording.fingerprintId()

const body = (session: string, n: number) =>
  Buffer.from(
    JSON.stringify({
      event_name: "llm",
      fingerprint_id: id,
      session,
      agent: "short",
      properties: {
        api: "provider2-messages",
        inputs: {
          model: "m-1",
          max_tokens: 64,
          messages: [{ role: "user", content: `What is ${n} times 7? In words, please.` }]
        },
        output: {
          role: "assistant",
          content: [{ type: "text", text: `It is ${n * 7}.` }],
          model: "m-1",
          stop_reason: "end_turn"
        }
      }
    })
  )

/** Concurrent requests. */
const concurrency = 256

/** Returns the number of the next session. */
const record = async (from: number, to: number, session: (n: number) => string) => {
  let next = from
  const worker = async () => {
    while (next < to && performance.now() < deadline) {
      const n = next++
      await recording.record(body(session(n), n))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return next
}

/** Time limit of the run (ms). */
const maxMs = 120_000
const deadline = performance.now() + maxMs
const startedAt = performance.now()
const report = async (count: number) => {
  // Twice with a pause, to collect what finalizers release.
  for (let n = 0; n < 2; n++) {
    globalThis.gc?.()
    await new Promise((done) => setTimeout(done, 50))
  }
  const { arrayBuffers, heapUsed, rss } = process.memoryUsage()
  const sample: Sample = {
    sessions: count,
    heap: heapUsed,
    buffers: arrayBuffers,
    rss,
    seconds: (performance.now() - startedAt) / 1_000
  }
  process.send?.(sample)
}

await record(0, 1_000, () => "the first")
await report(0)

/** Number of measurements. */
const steps = 4
let done = 0
for (let step = 1; step <= steps && performance.now() < deadline; step++) {
  done = await record(done, Math.round((step * sessions) / steps), (n) => `session ${n}`)
  await report(done)
}
await recording.close()
await database.remove()
process.exit(0)
