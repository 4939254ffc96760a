/** Calls that wait are erased with those whose they turn out to be. */
import { MemoryStorage } from "@tachograph/core"
import { OtlpPosts } from "@tachograph/testkit"
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
