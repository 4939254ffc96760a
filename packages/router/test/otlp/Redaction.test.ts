/** What patterns match stands nowhere in the storage: not in what waits, not in events, not in steps. */
import { sqlite } from "@tachograph/storage-sqlite"
import { OtlpPosts } from "@tachograph/testkit"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { constants, inflateRawSync } from "node:zlib"
import { expect, it } from "vitest"
import { createTachograph } from "../../src/index.ts"

const key = "a key of twenty characters"
const number = "491701234567890"

/** Ids with digits that the pattern matches, too. */
const traceId = "12345678901234567890123456789012"
const agentId = "1234567890123456"
const callId = "6543210987654321"

const agent: OtlpPosts.ShortSpan = {
  traceId,
  spanId: agentId,
  name: `call ${number}`,
  attributes: {
    "gen_ai.operation.name": "invoke_agent",
    "session.id": `of ${number}`,
    "user.id": number,
    "gen_ai.agent.name": "bot",
    note: [`${number}`, { in: number }]
  }
}

const call: OtlpPosts.ShortSpan = {
  traceId,
  spanId: callId,
  parentSpanId: agentId,
  name: number,
  attributes: {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: [{ type: "text", content: `Call ${number}` }] }])
  }
}

it("masks what waits, events and steps alike, and keeps the ids that join them", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "tachograph-")), "redacted.db")
  const tachograph = await createTachograph({
    storage: sqlite(file),
    apiKeys: [key],
    otlpWaitMs: 600_000,
    redact: "[0-9]{10,}"
  })
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const post = async (...spans: ReadonlyArray<OtlpPosts.ShortSpan>) => {
    const body = JSON.stringify(OtlpPosts.traces(spans))
    const request = new Request("http://local/otlp/v1/traces", { method: "POST", headers, body })
    expect((await tachograph.fetch(request)).status).toBe(200)
  }
  const get = async (path: string): Promise<any> =>
    (await tachograph.fetch(new Request(`http://local${path}`, { headers }))).json()
  const database = new DatabaseSync(file, { readOnly: true })
  const waiting = () =>
    database
      .prepare("SELECT part_id, content FROM waiting_parts")
      .all()
      .map(({ content, part_id }) => {
        const text = inflateRawSync(content as Uint8Array, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
        return `${part_id} ${text}`
      })
  await post(call, { ...call, traceId: "ab".repeat(16) })
  expect(waiting()).toHaveLength(2)
  for (const text of waiting()) expect(text).not.toContain(number)
  await post(agent)
  await expect
    .poll(waiting, { interval: 50, timeout: 30_000 })
    .not.toContainEqual(expect.stringMatching(`^span .*${traceId}`))
  const { events } = await get(`/api/v1/events?trace_id=${traceId}`)
  expect(events).toMatchObject([
    { session: "of [redacted]", person: "[redacted]", agent: "bot", trace_id: traceId, span_id: callId }
  ])
  const { steps } = await get(`/api/v1/sessions/${encodeURIComponent("of [redacted]")}/steps`)
  expect(steps).toMatchObject([{ name: "call [redacted]", trace_id: traceId, span_id: agentId }])
  for (const text of waiting()) expect(text).not.toContain(number)
  database.close()
  await tachograph.close()
  expect(readFileSync(file, "latin1")).not.toContain(number)
  rmSync(dirname(file), { recursive: true })
})
