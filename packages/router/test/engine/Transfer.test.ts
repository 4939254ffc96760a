/** Exports and imports whose bodies cross to a thread: whole, cut, and not further than they are taken. */
import { sqlite } from "@tachograph/storage-sqlite"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { createTachograph } from "../../src/index.ts"
import * as FragileStorage from "./FragileStorage.ts"

const key = "an API key for tests"
const fingerprint = { language: "typescript", language_version: "7", system: "linux" }

type Close = () => void | Promise<void>

const open = async (onEnd: (close: Close) => void = onTestFinished) => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-transfer-"))
  onEnd(() => rmSync(folder, { recursive: true }))
  const storage = FragileStorage.open(join(folder, "transfer.db"), "openReading")
  const tachograph = await createTachograph({ storage, apiKeys: [key] })
  onEnd(() => tachograph.close())
  return tachograph
}

/** Has some events, one of which is larger than what is on its way at once: 64 KiB. Tests only read it. */
let from: Opened
const closing: Array<Close> = []
beforeAll(async () => {
  from = await filled()
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

const filled = async () => {
  const tachograph = await open((close) => void closing.push(close))
  const fingerprint_id = await tachograph.fingerprint(fingerprint)
  const record = (inputs: object, session: string) =>
    tachograph.record({ event_name: "llm", properties: { api: "aisdk", inputs, output: {} }, fingerprint_id, session })
  await record({ large: randomBytes(150_000).toString("hex") }, "large")
  for (let n = 0; n < 60; n += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, m) => record({ n, m, text: "x".repeat(n) }, `${m % 7}`)))
  }
  return tachograph
}

type Opened = Awaited<ReturnType<typeof open>>

const request = (path: string, init: RequestInit = {}) =>
  new Request(`http://host/api/v1${path}`, { ...init, headers: { authorization: `Bearer ${key}` } })

type Body = Parameters<Opened["api"]["import"]>[0]["body"]

const all = async <A>(items: AsyncIterable<A>) => {
  const found: Array<A> = []
  for await (const item of items) found.push(item)
  return found
}

const textOf = async ({ api }: Opened) => Buffer.from(await api.export.text())

/** The answers to the lines of an import. */
const answersOf = ({ api }: Opened, body: Body) => api.import.lines({ body }) as AsyncIterable<Record<string, string>>

it("imports what another exports, in process, and exports the same", async () => {
  const to = await open()
  const results: Record<string, number> = {}
  const { body } = await from.api.export.response()
  for await (const answer of answersOf(to, body!)) {
    const result = answer["result"] ?? answer["type"]!
    results[result] = (results[result] ?? 0) + 1
  }
  expect(results).toEqual({ ignored: 2, imported: 64, end: 1 })
  const text = await textOf(from)
  expect((await textOf(to)).equals(text)).toBe(true)
  const answers = await all(answersOf(to, ReadableStream.from([text.subarray(0, 5), text.subarray(5)])))
  expect(answers.at(-1)).toMatchObject({ type: "end", exists: 64, imported: 0, failed: 0 })
})

it("names events that are damaged, and goes on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-damaged-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, "damaged.db")
  const tachograph = await createTachograph({ storage: sqlite(file) })
  onTestFinished(() => tachograph.close())
  const fingerprint_id = await tachograph.fingerprint(fingerprint)
  const ids: Array<string> = []
  for (const session of ["a", "b", "c"]) {
    const properties = { api: "aisdk", inputs: { session }, output: {} }
    ids.push((await tachograph.record({ event_name: "llm", properties, fingerprint_id, session })).event_id)
  }
  const database = new DatabaseSync(file, { timeout: 30_000 })
  const damage = `UPDATE packs SET pack = zeroblob(length(pack)) WHERE session_number =
    (SELECT session_number FROM sessions WHERE session_id = 'b')`
  expect(database.prepare(damage).run().changes).toBe(1)
  database.close()
  const lines = (await textOf(tachograph)).toString().trimEnd().split("\n")
  const last = lines.slice(-4).map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(last).toMatchObject([
    { type: "event", event_id: ids[0] },
    { type: "damaged", event_id: ids[1] },
    { type: "event", event_id: ids[2] },
    { type: "end", events: 2, damaged: 1, after_event: ids[2] }
  ])
})

it("gives an export up in the middle, and reads others", async () => {
  for (let n = 0; n < 5; n++) for await (const _ of from.api.export.lines()) break
  const { body } = await from.fetch(request("/export"))
  const reader = body!.getReader()
  await reader.read()
  await reader.cancel()
  expect((await textOf(from)).toString()).toMatch(/"events":61,"damaged":0,"after_event":"[^"]+"\}\n$/)
})

it("cuts an export whose thread ends, and makes others on another", async () => {
  await expect((await from.fetch(request("/export?agent=exit"))).text()).rejects.toThrow()
  expect((await textOf(from)).toString()).toContain('{"type":"end"')
})

it("cuts an import whose thread ends, of which the lines before are kept", async () => {
  const to = await open()
  const lines = (await textOf(from)).toString().split("\n")
  const created_at = "2026-01-01T00:00:00Z"
  const fatal = JSON.stringify({ type: "agent", agent_name: "exit", created_at })
  const body = [...lines.slice(0, -10), fatal, ...lines].join("\n")
  await expect((await to.fetch(request("/import", { method: "POST", body }))).text()).rejects.toThrow()
  const events = async () => {
    const text = (await textOf(to)).toString()
    return text.split("\n").filter((line) => line.startsWith('{"type":"event"')).length
  }
  await expect.poll(() => events().catch(() => 0)).toBeGreaterThan(0)
  const again = await all(answersOf(to, lines.join("\n")))
  expect(again.at(-1)).toMatchObject({ failed: 0 })
  expect(await events()).toBe(61)
})

it("says after which line an import broke off, and goes on when it is sent again", async () => {
  const to = await open()
  const text = await textOf(from)
  const lines = text.toString().split("\n")
  let imported = 0
  for (const part of [0.4, 0.9]) {
    const cut = text.subarray(0, Math.floor(part * text.length))
    const broken = async function* () {
      yield cut
      throw new Error("The connection broke")
    }
    const body = ReadableStream.from(broken())
    const init = { method: "POST", body, duplex: "half" } as RequestInit
    const answers = (await (await to.fetch(request("/import", init))).text()).trimEnd().split("\n")
    const after_line = cut.toString().split("\n").length - 1
    const { exists, imported: own, ...end } = JSON.parse(answers.at(-1)!)
    expect(end).toMatchObject({ type: "cut", after_line, lines: after_line, failed: 0 })
    expect([answers.length, exists]).toEqual([after_line + 1, imported])
    imported += own
    expect((await textOf(to)).toString().split("\n").slice(0, -2)).toEqual(lines.slice(0, after_line))
  }
  const last = (await all(answersOf(to, text))).at(-1)
  expect(last).toMatchObject({ type: "end", exists: imported, imported: 64 - imported })
  expect((await textOf(to)).equals(text)).toBe(true)
})

it("reads no more of an import than its answers are taken", async () => {
  const to = await open()
  let sent = 0
  const line = `${JSON.stringify({ type: "more", filler: "x".repeat(10_000) })}\n`
  const body = new ReadableStream({
    pull: (controller) => {
      sent++
      controller.enqueue(Buffer.from(line))
    }
  })
  const init = { method: "POST", body, duplex: "half" } as RequestInit
  const reader = (await to.fetch(request("/import", init))).body!.getReader()
  await reader.read()
  let before = -1
  await expect
    .poll(
      () => {
        const isStill = before === sent
        before = sent
        return isStill
      },
      { interval: 100, timeout: 20_000 }
    )
    .toBe(true)
  expect(sent).toBeLessThan(2_000)
  for (let n = 0; n < 50; n++) await reader.read()
  expect(sent).toBeGreaterThan(50)
  await reader.cancel()
})
