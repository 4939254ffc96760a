/** Agents and their versions. */
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { badNames, event, expectError, expectInvalid, goodNames, hasPath, iso8601 } from "./Requests.ts"

const agents = "/api/v1/agents"
const versionsOf = (agent: string) => `${agents}/${encodeURIComponent(agent)}/agent-versions`

export const define = ({ describe, fixture, it }: Cases) => {
  const put = (path: string, body: unknown) => fixture().client.put(path, body)
  const get = (path: string) => fixture().client.get(path)
  const record = async (fields: Record<string, unknown>) => {
    const { client, fingerprintId } = fixture()
    expect((await client.post("/api/v1/events", event(fingerprintId, fields))).status).toBe(200)
  }

  describe("Agents", () => {
    it("creates an agent with its name, number, time and description", async () => {
      const first = await put(agents, { agent_name: "one", description: "the first" })
      const second = await put(agents, { agent_name: "two" })
      expect(first.status).toBe(200)
      expect(first.body).toEqual({
        agent_name: "one",
        agent_number: expect.any(Number),
        created_at: expect.stringMatching(iso8601),
        description: "the first"
      })
      expect(second.body).toMatchObject({ agent_number: first.body.agent_number + 1, description: "" })
      expect((await get(`${agents}/one`)).body).toEqual(first.body)
    })

    it("requires agent_name; description may be absent or null", async () => {
      expectInvalid(await put(agents, {}), "missing", "body", "agent_name")
      expectInvalid(await put(agents, { agent_name: null }), "string_type", "body", "agent_name")
      expectInvalid(await put(agents, { agent_name: "x", description: 1 }), "string_type", "body", "description")
      expect((await put(agents, { agent_name: "null-described", description: null })).body.description).toBe("")
    })

    it("returns the stored agent for a PUT of an existing name, and changes nothing", async () => {
      const first = await put(agents, { agent_name: "twice", description: "first" })
      const again = await put(agents, { agent_name: "twice", description: "second" })
      expect([again.status, again.body]).toEqual([200, first.body])
      expect((await get(`${agents}/twice`)).body).toEqual(first.body)
    })

    it("gets its description from the first PUT after events have named it", async () => {
      await record({ agent: "named" })
      const named = await get(`${agents}/named`)
      expect(named.body.description).toBe("")
      const first = await put(agents, { agent_name: "named", description: "what it does" })
      expect([first.status, first.body]).toEqual([200, { ...named.body, description: "what it does" }])
      await record({ agent: "named" })
      expect((await put(agents, { agent_name: "named", description: "another" })).body).toEqual(first.body)
      expect((await get(`${agents}/named`)).body).toEqual(first.body)
      // A PUT without a description has decided it too.
      await record({ agent: "named without" })
      await put(agents, { agent_name: "named without" })
      expect((await put(agents, { agent_name: "named without", description: "late" })).body.description).toBe("")
    })

    it("returns 404 agent-not-found", async () => {
      expectError(await get(`${agents}/nobody`), 404, "agent-not-found")
      expectError(await put(versionsOf("nobody"), { agent_version_name: "v" }), 404, "agent-not-found")
      expectError(await get(`${versionsOf("nobody")}/v`), 404, "agent-not-found")
    })

    it("accepts any name in the body and in the path", { tags: ["adapter", "path"] }, async () => {
      for (const name of goodNames) {
        expect((await put(agents, { agent_name: name })).body.agent_name).toBe(name)
        expect((await get(`${agents}/${encodeURIComponent(name)}`)).body.agent_name).toBe(name)
        expect((await put(versionsOf(name), { agent_version_name: name })).body.agent_version_name).toBe(name)
        const version = await get(`${versionsOf(name)}/${encodeURIComponent(name)}`)
        expect(version.body.agent_version_name).toBe(name)
      }
      for (const [name, type] of badNames) {
        expectInvalid(await put(agents, { agent_name: name }), type, "body", "agent_name")
        if (!hasPath(name)) continue
        expectInvalid(await get(`${agents}/${encodeURIComponent(name)}`), type, "path", "agent_name")
      }
    })
  })

  describe("Agent versions", () => {
    it("creates an active version with its name, number, time and description", async () => {
      await put(agents, { agent_name: "versioned" })
      const first = await put(versionsOf("versioned"), { agent_version_name: "v1", description: "what changed" })
      expect(first.status).toBe(200)
      expect(first.body).toEqual({
        agent_version_name: "v1",
        description: "what changed",
        agent_version_number: 1,
        created_at: expect.stringMatching(iso8601),
        deprecated_at: null
      })
      const second = await put(versionsOf("versioned"), { agent_version_name: "v2" })
      expect(second.body).toMatchObject({ agent_version_number: 2, description: null })
      expect((await get(`${versionsOf("versioned")}/v1`)).body).toEqual(first.body)
    })

    it("requires agent_version_name; description may be absent or null", async () => {
      await put(agents, { agent_name: "strict" })
      const create = (body: unknown) => put(versionsOf("strict"), body)
      expectInvalid(await create({}), "missing", "body", "agent_version_name")
      expectInvalid(await create({ agent_version_name: 1 }), "string_type", "body", "agent_version_name")
      expectInvalid(await create({ agent_version_name: "v", description: [] }), "string_type", "body", "description")
      for (const [name, type] of badNames) {
        expectInvalid(await create({ agent_version_name: name }), type, "body", "agent_version_name")
      }
      expect((await create({ agent_version_name: "v", description: null })).body.description).toBeNull()
    })

    it("names and numbers versions per agent", async () => {
      for (const agent of ["left", "right"]) await put(agents, { agent_name: agent })
      await put(versionsOf("left"), { agent_version_name: "a" })
      await put(versionsOf("left"), { agent_version_name: "b" })
      expect((await put(versionsOf("right"), { agent_version_name: "b" })).body.agent_version_number).toBe(1)
      expect((await get(`${versionsOf("left")}/b`)).body.agent_version_number).toBe(2)
    })

    it("returns the stored version for a PUT of an existing name", async () => {
      await put(agents, { agent_name: "again" })
      const first = await put(versionsOf("again"), { agent_version_name: "v", description: "first" })
      const second = await put(versionsOf("again"), { agent_version_name: "v", description: "second" })
      expect([second.status, second.body]).toEqual([200, first.body])
    })

    it("gets its description from the first PUT after events have named it", async () => {
      const versions = versionsOf("named versions")
      await record({ agent: "named versions", agent_version: "v" })
      await record({ agent: "named versions", agent_version: "w" })
      await fixture().client.post(`${versions}/v/deprecate`, undefined)
      const named = await get(`${versions}/v`)
      expect(named.body.description).toBeNull()
      const first = await put(versions, { agent_version_name: "v", description: "what changed" })
      expect([first.status, first.body]).toEqual([200, { ...named.body, description: "what changed" }])
      expect((await put(versions, { agent_version_name: "v", description: "another" })).body).toEqual(first.body)
      expect((await get(`${versions}/v`)).body).toEqual(first.body)
      // A PUT without a description has decided it too.
      await put(versions, { agent_version_name: "w" })
      expect((await put(versions, { agent_version_name: "w", description: "late" })).body.description).toBeNull()
    })

    it("returns 404 agent-version-not-found", async () => {
      await put(agents, { agent_name: "bare" })
      expectError(await get(`${versionsOf("bare")}/v`), 404, "agent-version-not-found")
    })

    it("reports errors in the path and in the body together", async () => {
      const { body } = await put(versionsOf("\u0000"), { description: 1 })
      expect(body.detail.map((d: any) => [d.type, ...d.loc])).toEqual([
        ["value_error", "path", "agent_name"],
        ["missing", "body", "agent_version_name"],
        ["string_type", "body", "description"]
      ])
    })

    // More at once than a storage has connections.
    it("numbers 100 versions that are created concurrently 1 to 100, without a gap", async () => {
      await put(agents, { agent_name: "busy" })
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, n) => put(versionsOf("busy"), { agent_version_name: `v${n}` }))
      )
      const numbers = answers.map(({ body }) => body.agent_version_number).sort((a, b) => a - b)
      expect(numbers).toEqual(Array.from({ length: 100 }, (_, n) => n + 1))
    })
  })
}
