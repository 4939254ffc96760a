/** The thread for long reads: what it answers, and that recording does not wait for it. */
import { HttpClient } from "@tachograph/testkit"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { expect, it, onTestFinished } from "vitest"
import { createTachograph } from "../../src/index.ts"
import * as FragileStorage from "./FragileStorage.ts"

const key = "an API key for tests"
const fingerprint = { language: "typescript", language_version: "7", system: "linux" }

/** Above the size from which the reading thread reads an event; random, so that its pack is as large. */
const large = randomBytes(64 * 1024).toString("hex")

const open = async (reading: string) => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-reading-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, "reading.db")
  const tachograph = await createTachograph({ storage: FragileStorage.open(file, reading), apiKeys: [key] })
  onTestFinished(() => tachograph.close())
  const fingerprint_id = await tachograph.fingerprint(fingerprint)
  const record = async (inputs: object) => {
    const properties = { api: "openai-responses", inputs, output: {} }
    return (await tachograph.record({ event_name: "llm", properties, fingerprint_id, session: "read" })).event_id
  }
  const client = HttpClient.make(tachograph.fetch, key)
  const list = (agent: string) => client.get(`/api/v1/events?agent=${agent}`)
  const read = (id: string) => client.get(`/api/v1/events/${id}`)
  const signalled = (agent: string, signal: AbortSignal) =>
    tachograph.fetch(
      new Request(`http://host/api/v1/events?agent=${agent}`, { signal, headers: { authorization: `Bearer ${key}` } })
    )
  return { file, record, client, list, read, signalled }
}

it("leaves recording and small reads alone while the reading thread stands still", async () => {
  const { client, file, list, read, record } = await open("openReading")
  const first = await record({ large })
  let answers = 0
  const held = Promise.all(
    [list("hold"), read(first)].map(async (call) => {
      const { status } = await call
      answers++
      return status
    })
  )
  const small = await record({ n: 1 })
  expect((await read(small)).status).toBe(200)
  expect((await client.get("/ready")).status).toBe(200)
  expect(answers).toBe(0)
  writeFileSync(FragileStorage.releaseOf(file), "")
  expect(await held).toEqual([200, 200])
})

it("leaves out reads whose clients have gone before their turn", async () => {
  const { file, list, signalled } = await open("openReading")
  expect((await list("default")).status).toBe(200)
  const held = list("hold")
  const gone = new AbortController()
  const given = Array.from({ length: 10 }, () => signalled("note", gone.signal).catch(() => undefined))
  await setTimeout(50)
  gone.abort()
  await Promise.all(given)
  const last = list("note")
  await setTimeout(50)
  writeFileSync(FragileStorage.releaseOf(file), "")
  expect([(await held).status, (await last).status]).toEqual([200, 200])
  expect(readFileSync(FragileStorage.notesOf(file), "utf8")).toBe(".")
})

it("reads a small event on the reading thread where it runs and the other one is busy", async () => {
  const { client, file, list, read, record } = await open("openReading")
  const id = await record({ n: 1 })
  expect((await list("default")).status).toBe(200)
  let isHeld = true
  const held = client.get("/api/v1/agents/hold").finally(() => (isHeld = false))
  expect((await list("default")).status).toBe(200)
  expect((await read(id)).body.properties.inputs).toEqual({ n: 1 })
  expect(isHeld).toBe(true)
  writeFileSync(FragileStorage.releaseOf(file), "")
  expect((await held).status).toBe(404)
})

it("starts the reading thread when a browser opens the viewer", async () => {
  const { client, file, read, record } = await open("openReading")
  const id = await record({ n: 1 })
  expect((await client.get("/viewer/")).status).toBe(200)
  const held = client.get("/api/v1/agents/hold")
  let readAhead = false
  const reads: Array<Promise<unknown>> = []
  // Those that were asked before the reading thread runs wait for the other one.
  while (!readAhead) {
    reads.push(read(id).then(() => (readAhead = true)))
    await setTimeout(20)
  }
  writeFileSync(FragileStorage.releaseOf(file), "")
  expect((await held).status).toBe(404)
  await Promise.all(reads)
})

it("starts another reading thread after one that ended, until it has ended too often", async () => {
  const { client, list, record } = await open("openReading")
  const id = await record({ n: 1 })
  for (let death = 0; death < 3; death++) {
    expect((await list("default")).body.events).toMatchObject([{ event_id: id }])
    expect((await list("exit")).status).toBe(503)
  }
  expect((await list("default")).status).toBe(503)
  expect((await client.get("/ready")).status).toBe(200)
  await record({ n: 2 })
})

it("reads on the thread that records where there cannot be another", async () => {
  const { list, read, record } = await open("openMissing")
  const id = await record({ large })
  expect((await list("default")).body.events).toMatchObject([{ event_id: id }])
  expect((await read(id)).body.properties.inputs).toEqual({ large })
})

const damagePack = (file: string) => {
  const database = new DatabaseSync(file, { timeout: 30_000 })
  expect(database.prepare("UPDATE packs SET pack = zeroblob(length(pack))").run().changes).toBe(1)
  database.close()
}

it("reads a small event on the thread that records after a large one was refused", async () => {
  const { file, list, read, record } = await open("openReading")
  const damaged = await record({ large })
  damagePack(file)
  expect((await read(damaged)).status).toBe(500)
  const id = await record({ n: 1 })
  let isHeld = true
  const held = list("hold").finally(() => (isHeld = false))
  expect((await read(id)).body.properties.inputs).toEqual({ n: 1 })
  expect(isHeld).toBe(true)
  writeFileSync(FragileStorage.releaseOf(file), "")
  expect((await held).status).toBe(200)
})

it("records what was damaged again when the reading thread has found the damage", async () => {
  const { file, read, record } = await open("openReading")
  const first = await record({ large })
  damagePack(file)
  expect((await read(first)).body).toEqual({ type: "event-damaged", event_id: first })
  const second = await record({ large })
  expect((await read(second)).body.properties.inputs).toEqual({ large })
})

it("reads nothing of what is erased", async () => {
  const { client, list, read, record } = await open("openReading")
  const id = await record({ large })
  expect([(await read(id)).status, (await list("default")).body.events.length]).toEqual([200, 1])
  expect((await client.call("DELETE", "/api/v1/sessions/read")).status).toBe(200)
  expect([(await read(id)).status, (await list("default")).body.events.length]).toEqual([404, 0])
})
