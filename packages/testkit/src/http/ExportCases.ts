/** The lines of an export: what they hold, in which order, of which events, and how it is continued. */
import { expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event, expectInvalid } from "./Requests.ts"

const path = "/api/v1/export"

/** The lines, parsed. */
const linesOf = async (client: Client, query = "") => {
  const { headers, status, text } = await client.get(path + query)
  expect([status, headers.get("content-type")]).toEqual([200, "application/x-ndjson"])
  expect(text.endsWith("}\n")).toBe(true)
  const texts = text.split("\n").slice(0, -1)
  return { texts, lines: texts.map((line) => JSON.parse(line) as Record<string, any>) }
}

const typesOf = (lines: ReadonlyArray<Record<string, any>>) => lines.map(({ type }) => type)

export const define = ({ describe, fixture, it }: Cases) => {
  const inProject = async (project: string) => {
    const { as, issue } = fixture()
    const client = as((await issue({ scopes: ["admin"], project })).key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "1", system: "s" })
    const fingerprintId = body.fingerprint_id as string
    const record = async (fields: Record<string, unknown>) =>
      (await client.post("/api/v1/events", event(fingerprintId, fields))).body.event_id as string
    return { client, fingerprintId, record }
  }

  describe("Export", () => {
    it("writes all that a project has, before it is named", async () => {
      const { client, fingerprintId, record } = await inProject("export all")
      await client.put("/api/v1/agents", { agent_name: "unused", description: "of nobody" })
      await client.put("/api/v1/agents/unused/agent-versions", { agent_version_name: "v1", description: "old" })
      await client.post("/api/v1/agents/unused/agent-versions/v1/deprecate", undefined)
      await client.put("/api/v1/people", '{"person_id":"ö","properties":{"n": 1.0,\n"n":2}}')
      const ids = [
        await record({ agent: "a", person: "ö", session: "s" }),
        await record({ agent: "a", agent_version: "2", session: "t", metadata: { k: [] }, duration_ms: 1.5 })
      ]
      const { lines } = await linesOf(client)
      expect(typesOf(lines)).toEqual([
        "export",
        ...["agent", "agent-version", "agent", "agent-version", "agent-version"],
        ...["person", "fingerprint"],
        ...["event", "event"],
        "end"
      ])
      expect(lines[1]).toMatchObject({ agent_name: "unused", description: "of nobody" })
      expect(lines[2]).toMatchObject({ agent_name: "unused", agent_version_name: "v1", description: "old" })
      expect(lines[2]!["deprecated_at"]).not.toBeNull()
      expect(lines[6]).toMatchObject({ person_id: "ö", properties_text: '{"n": 1.0,\n"n":2}' })
      expect(lines[7]).toMatchObject({ fingerprint_id: fingerprintId, language: "l" })
      for (const [index, id] of ids.entries()) {
        const read = (await client.get(`/api/v1/events/${id}`)).body
        const { checksum, type: _, ...line } = lines[8 + index]!
        expect(checksum).toMatch(/^[0-9a-f]{8}$/)
        expect(read).toMatchObject(line)
        expect(line["event_id"]).toBe(id)
      }
      expect(lines.at(-1)).toEqual({ type: "end", events: 2, damaged: 0, after_event: ids[1] })
    })

    it("writes payloads byte for byte, on one line", { tags: ["adapter"] }, async () => {
      const { client, fingerprintId } = await inProject("export verbatim")
      const texts = ['{"b":1.0,"a":9007199254740993,"a":"\\u0000\\ud800 é\u2028"}', '{\r\n "x": [1 ,2]}\n', '{"":{ }}']
      for (const inputs of texts) {
        const properties = `{"api":"aisdk","inputs":${inputs},"output":${inputs}}`
        const body = `{"event_name":"llm","properties":${properties},"fingerprint_id":"${fingerprintId}","session":"v"}`
        expect((await client.post("/api/v1/events", body)).status).toBe(200)
      }
      const events = (await linesOf(client)).texts.filter((line) => line.startsWith('{"type":"event"'))
      expect(events).toHaveLength(texts.length)
      const trimmed = texts.map((text) => text.trim())
      for (const at of [0, 2]) {
        const payload = `"properties":{"api":"aisdk","inputs":${trimmed[at]},"output":${trimmed[at]}}`
        expect(events[at]).toContain(payload)
      }
      const { properties } = JSON.parse(events[1]!)
      expect(properties).toEqual({ api: "aisdk", inputs_text: trimmed[1], output_text: trimmed[1] })
    })

    it("takes filters of events, and then writes only what those events name", async () => {
      const { client, record } = await inProject("export some")
      await client.put("/api/v1/people", { person_id: "other", properties: { secret: true } })
      const wanted = await record({ agent: "a", person: "p", session: "s" })
      await record({ agent: "b", person: "other", session: "t" })
      const again = await record({ agent: "a", person: "p", session: "t" })
      const { lines, texts } = await linesOf(client, "?person=p")
      expect(typesOf(lines)).toEqual([
        ...["export", "agent", "agent-version", "person", "fingerprint", "event", "event", "end"]
      ])
      expect([lines[5]!["event_id"], lines[6]!["event_id"]]).toEqual([wanted, again])
      expect(texts.join()).not.toContain("secret")
      expect(typesOf((await linesOf(client, "?session=t&error=false&model=m&person=p")).lines)).toContain("event")
      expect(typesOf((await linesOf(client, "?model=unknown")).lines)).toEqual(["export", "end"])
      expectInvalid(await client.get(`${path}?cursor=1`), "extra_forbidden", "query", "cursor")
      expectInvalid(await client.get(`${path}?after_event=1`), "uuid_parsing", "query", "after_event")
      expectInvalid(await client.get(`${path}?limit=0`), "greater_than_equal", "query", "limit")
    })

    it("is continued after its last event", async () => {
      const { client, record } = await inProject("export on")
      const ids: Array<string> = []
      for (let n = 0; n < 5; n++) ids.push(await record({ session: `${n % 2}` }))
      const found: Array<string> = []
      let after = ""
      for (const [type, events] of [
        ["more", 2],
        ["more", 2],
        ["end", 1]
      ] as const) {
        const { lines } = await linesOf(client, `?limit=2${after}`)
        found.push(...lines.filter((line) => line["type"] === "event").map((line) => line["event_id"]))
        expect(lines.at(-1)).toEqual({ type, events, damaged: 0, after_event: found.at(-1) })
        after = `&after_event=${found.at(-1)}`
      }
      expect(found).toEqual(ids)
      expect((await linesOf(client, after.replace("&", "?"))).lines).toEqual([
        { type: "export", format: 1 },
        { type: "end", events: 0, damaged: 0, after_event: ids[4] }
      ])
    })

    it("of nothing is whole as well, and nothing of another project is in it", async () => {
      const { as, issue } = fixture()
      const { record } = await inProject("export apart")
      await record({ session: "apart" })
      const other = as((await issue({ scopes: ["read"], project: "export nothing" })).key)
      expect((await linesOf(other)).lines).toEqual([
        { type: "export", format: 1 },
        { type: "end", events: 0, damaged: 0, after_event: null }
      ])
    })
  })
}
