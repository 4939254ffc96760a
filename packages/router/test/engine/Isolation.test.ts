/** What the host keeps when the thread of the engine ends, runs out of memory or stands still. */
import { sqlite } from "@tachograph/storage-sqlite"
import { HttpClient } from "@tachograph/testkit"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it, onTestFinished } from "vitest"
import { createTachograph } from "../../src/index.ts"
import * as FragileStorage from "./FragileStorage.ts"

const key = "an API key for tests"
const fingerprint = { language: "typescript", language_version: "7", system: "linux" }

const temporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-isolation-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const open = async () => {
  const file = join(temporaryFolder(), "fragile.db")
  const tachograph = await createTachograph({
    storage: FragileStorage.open(file),
    apiKeys: [key],
    thread: { heapMib: 64 }
  })
  onTestFinished(() => tachograph.close())
  const id = await tachograph.fingerprint(fingerprint)
  const event = (n: number) => ({
    event_name: "llm" as const,
    properties: { api: "openai-responses", inputs: { n }, output: {} },
    fingerprint_id: id,
    session: "isolated"
  })
  const client = HttpClient.make(tachograph.fetch, key)
  const act = (name: string) => client.get(`/api/v1/agents/${name}`)
  const release = () => writeFileSync(FragileStorage.releaseOf(file), "")
  return { tachograph, client, act, event, release }
}

const isReady = async (client: ReturnType<typeof HttpClient.make>) =>
  expect.poll(async () => (await client.get("/ready")).status, { interval: 20 }).toBe(200)

it.each(["exit", "exhaust"])("starts another thread after one that ended: %s", async (how) => {
  const { act, client, event, tachograph } = await open()
  const kept = await tachograph.record(event(1))
  const answers = await Promise.all([act(how), client.get("/health")])
  expect(answers.map(({ status }) => status)).toEqual([503, 200])
  expect(answers[0].body).toEqual({ type: "storage-unavailable" })
  expect(answers[0].headers.get("retry-after")).not.toBeNull()
  await isReady(client)
  expect((await tachograph.api.getEvent({ event_id: kept.event_id })).properties).toMatchObject({ inputs: { n: 1 } })
  const later = await tachograph.record(event(2))
  expect((await tachograph.api.getEvent({ event_id: later.event_id })).properties).toMatchObject({ inputs: { n: 2 } })
})

it("starts another thread after one whose heap has become too large", async () => {
  const { act, client } = await open()
  const another = once(process, "worker")
  await act("swell")
  await another
  await isReady(client)
})

it("stays down, and is not ready, after the third death in a minute", async () => {
  const { act, client, event, tachograph } = await open()
  for (let death = 0; death < 3; death++) {
    await isReady(client)
    expect((await act("exit")).status).toBe(503)
  }
  // As long as it takes to start a thread, and more.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect((await client.get("/ready")).status).toBe(503)
  expect((await client.get("/health")).status).toBe(200)
  expect((await client.get("/metrics")).status).toBe(200)
  await expect(tachograph.record(event(1))).rejects.toMatchObject({ type: "storage-unavailable" })
})

it("answers for itself, and refuses events, while the thread stands still", async () => {
  const { act, client, event, release, tachograph } = await open()
  const stopped = act("hold")
  const waiting = tachograph.record(event(1))
  expect((await client.get("/health")).status).toBe(200)
  // It answers when it has waited for the thread for a second.
  expect((await client.get("/ready")).status).toBe(503)
  expect((await client.get("/metrics")).status).toBe(200)
  await expect.poll(() => tachograph.record(event(2)).catch(({ type }) => type)).toBe("overloaded")
  release()
  expect((await stopped).status).toBe(404)
  await isReady(client)
  const ids = [(await waiting).event_id, (await tachograph.record(event(3))).event_id]
  const { events } = await tachograph.api.listEvents()
  expect(events.map(({ event_id }) => event_id)).toEqual(ids)
})

it("closes although the thread stands still", async () => {
  const { act, client, tachograph } = await open()
  expect((await act("freeze")).status).toBe(404)
  await expect.poll(async () => (await client.get("/ready")).status).toBe(503)
  await tachograph.close()
})

it("does not keep a process alive that has nothing else to do", async () => {
  const folder = temporaryFolder()
  const program = fileURLToPath(new URL("RecordOnce.ts", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program, join(folder, "once.db")], {
    timeout: 60_000
  })
  const tachograph = await createTachograph({ storage: sqlite(join(folder, "once.db")) })
  expect((await tachograph.api.getEvent({ event_id: stdout.trim() })).session).toBe("once")
  await tachograph.close()
})
