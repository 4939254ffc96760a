/** Calls that wait are erased with those whose they turn out to be. */
import { MemoryStorage } from "@tachograph/core"
import { sqlite } from "@tachograph/storage-sqlite"
import { OtlpPosts } from "@tachograph/testkit"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { constants, inflateRawSync } from "node:zlib"
import { expect, it, vi } from "vitest"
import { createTachograph } from "../../src/index.ts"

const key = "a key of twenty characters"
const headers = { authorization: `Bearer ${key}` }

const traceOf = (name: string) => Buffer.from(name.padEnd(16, ".")).toString("hex")
const agentId = "00000000000000a1"

const callOf = (trace: string): OtlpPosts.ShortSpan => ({
  traceId: traceOf(trace),
  spanId: "00000000000000c1",
  parentSpanId: agentId,
  attributes: { "gen_ai.operation.name": "chat", "gen_ai.input.messages": `[{"role":"user","parts":[]}]` }
})

const agentOf = (trace: string, session: string, person: string): OtlpPosts.ShortSpan => ({
  traceId: traceOf(trace),
  spanId: agentId,
  attributes: { "gen_ai.operation.name": "invoke_agent", "session.id": session, "user.id": person }
})

it("erases what came before the erasure, and keeps what is of others", async () => {
  const tachograph = await createTachograph({ storage: MemoryStorage.layer, apiKeys: [key], otlpWaitMs: 600_000 })
  const call = async (method: string, path: string, body?: object) => {
    const type = { "content-type": "application/json" }
    const init = { method, headers: { ...headers, ...type }, body: body === undefined ? null : JSON.stringify(body) }
    return tachograph.fetch(new Request(`http://local${path}`, init))
  }
  const post = async (...spans: ReadonlyArray<OtlpPosts.ShortSpan>) =>
    expect((await call("POST", "/otlp/v1/traces", OtlpPosts.traces(spans))).status).toBe(200)
  const sessions = async () => {
    const { events } = (await (await call("GET", "/api/v1/events?limit=100")).json()) as {
      readonly events: ReadonlyArray<{ readonly session: string }>
    }
    return events.map(({ session }) => session).toSorted()
  }
  try {
    // Both have an event, so that they can be erased.
    await post({
      ...callOf("first"),
      parentSpanId: "",
      attributes: { ...callOf("").attributes, "session.id": "theirs", "user.id": "they" }
    })
    await post(callOf("session"), callOf("person"), callOf("other"))
    expect(await sessions()).toEqual(["theirs"])
    expect((await call("DELETE", "/api/v1/sessions/theirs")).status).toBe(200)
    expect((await call("DELETE", "/api/v1/people/they")).status).toBe(200)
    await post(callOf("later"))
    await post(agentOf("session", "theirs", "else"), agentOf("person", "else", "they"))
    await post(agentOf("other", "others", "else"), agentOf("later", "theirs", "they"))
    await vi.waitFor(async () => expect(await sessions()).toEqual(["others", "theirs"]), {
      timeout: 30_000,
      interval: 50
    })
  } finally {
    await tachograph.close()
  }
})

it("keeps the name of nobody who was erased, also while others wait", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "tachograph-")), "erased.db")
  const tachograph = await createTachograph({ storage: sqlite(file), apiKeys: [key], otlpWaitMs: 600_000 })
  const call = async (method: string, path: string, body?: object) => {
    const type = { "content-type": "application/json" }
    const init = { method, headers: { ...headers, ...type }, body: body === undefined ? null : JSON.stringify(body) }
    expect((await tachograph.fetch(new Request(`http://local${path}`, init))).status).toBe(200)
  }
  const person = "a-person-who-is-erased"
  const session = "a-session-that-is-erased"
  const own = { ...callOf("own"), attributes: { ...callOf("").attributes, "session.id": session, "user.id": person } }
  // An event, a call that waits and says whose it is, one whose ancestor says it, and one of which it is not known.
  await call("POST", "/otlp/v1/traces", OtlpPosts.traces([{ ...own, traceId: traceOf("whole"), parentSpanId: "" }]))
  await call("POST", "/otlp/v1/traces", OtlpPosts.traces([own, callOf("other")]))
  const agent = { ...agentOf("ancestor", session, person), parentSpanId: "00000000000000ff" }
  await call("POST", "/otlp/v1/traces", OtlpPosts.traces([callOf("ancestor"), agent]))
  await call("DELETE", `/api/v1/people/${person}`)
  const again = { ...own, attributes: { ...callOf("").attributes, "session.id": session } }
  await call("POST", "/otlp/v1/traces", OtlpPosts.traces([again]))
  await call("DELETE", `/api/v1/sessions/${session}`)
  await tachograph.close()
  const database = new DatabaseSync(file, { readOnly: true })
  const parts = database.prepare("SELECT part_id, content FROM waiting_parts").all()
  database.close()
  const textOf = (content: unknown) =>
    inflateRawSync(content as Uint8Array, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
  const waiting = parts.map(({ content, part_id }) => `${part_id} ${textOf(content)}`)
  const kept = [readFileSync(file, "latin1"), ...waiting]
  const found = [person, session].flatMap((name) =>
    kept.flatMap((text) => {
      const at = text.indexOf(name)
      return at === -1 ? [] : [text.slice(Math.max(0, at - 200), at + 100)]
    })
  )
  expect(waiting).toContainEqual(expect.stringMatching(/^span /))
  expect(found).toEqual([])
  rmSync(dirname(file), { recursive: true })
})
