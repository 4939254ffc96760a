/** Lists of agents, versions, people and fingerprints, what they list, and the deprecation of a version. */
import { expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event, expectError, expectInvalid, iso8601 } from "./Requests.ts"

const unknownFingerprint = "01900000-0000-8000-8000-000000000000"

/** All rows of a list, in pages of 2. */
const all = async (client: Client, path: string, name: string): Promise<ReadonlyArray<any>> => {
  const rows: Array<any> = []
  let cursor: string | null = null
  do {
    const { body }: { body: any } = await client.get(
      `${path}?limit=2${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
    )
    expect(Object.keys(body)).toEqual([name, "next_cursor"])
    expect(body[name].length).toBeLessThanOrEqual(2)
    rows.push(...body[name])
    cursor = body.next_cursor
  } while (cursor !== null)
  return rows
}

export const define = ({ describe, fixture, it }: Cases) => {
  const inProject = async (project: string) => {
    const { as, issue } = fixture()
    return as((await issue({ scopes: ["admin"], project })).key)
  }

  describe("Lists", () => {
    it("lists what a project has, in pages, and nothing of another project", async () => {
      const [own, other] = [await inProject("lists"), await inProject("other lists")]
      const paths = {
        agents: "/api/v1/agents",
        agent_versions: "/api/v1/agents/b%3B/agent-versions",
        people: "/api/v1/people",
        fingerprints: "/api/v1/fingerprints"
      }
      const created: Record<string, Array<unknown>> = { agents: [], agent_versions: [], people: [], fingerprints: [] }
      for (const each of ["b;", "a", "é"]) {
        const agent = await own.put(paths.agents, { agent_name: each, description: each })
        created["agents"]!.push(agent.body)
        const version = await own.put(paths.agent_versions, { agent_version_name: each })
        created["agent_versions"]!.push(version.body)
        const person = await own.put(paths.people, { person_id: each, properties: { of: each } })
        // Nobody has called for them.
        created["people"]!.push({ ...person.body, usage: null })
        const body = { language: each, language_version: "1", system: "s" }
        const { fingerprint_id } = (await own.put(paths.fingerprints, body)).body
        created["fingerprints"]!.push((await own.get(`${paths.fingerprints}/${fingerprint_id}`)).body)
        expectError(await other.get(`${paths.fingerprints}/${fingerprint_id}`), 404, "fingerprint-not-found")
      }
      created["fingerprints"]!.sort((a: any, b: any) => (a.fingerprint_id < b.fingerprint_id ? -1 : 1))
      for (const [name, path] of Object.entries(paths)) {
        expect(await all(own, path, name), name).toEqual(created[name])
        if (name === "agent_versions") expectError(await other.get(path), 404, "agent-not-found")
        else expect((await other.get(path)).body, name).toEqual({ [name]: [], next_cursor: null })
      }
    })

    it("lists what only events have named", async () => {
      const client = await inProject("named lists")
      const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
      await client.post("/api/v1/events", event(body.fingerprint_id, { person: "p" }))
      expect((await client.get("/api/v1/agents")).body.agents).toMatchObject([{ agent_name: "default" }])
      expect((await client.get("/api/v1/agents/default/agent-versions")).body.agent_versions).toMatchObject([
        { agent_version_name: "default" }
      ])
      expect((await client.get("/api/v1/people")).body.people).toMatchObject([{ person_id: "p", properties: {} }])
      await client.put("/api/v1/people/p", '{"properties":{ "n": 1.0, "n": 9007199254740993 }}')
      expect((await client.get("/api/v1/people")).text).toContain('"properties":{ "n": 1.0, "n": 9007199254740993 },')
    })

    it("ends a page early where texts are long", async () => {
      const client = await inProject("long lists")
      const note = "x".repeat(300 * 1024)
      for (const person_id of ["1", "2", "3", "4"]) {
        await client.put("/api/v1/people", { person_id, properties: { note } })
      }
      const { body } = await client.get("/api/v1/people")
      expect(body.people.map(({ person_id }: any) => person_id)).toEqual(["1", "2", "3"])
      const { body: rest } = await client.get(`/api/v1/people?cursor=${body.next_cursor}`)
      expect([rest.people.length, rest.next_cursor]).toEqual([1, null])
    })

    it("rejects an unknown parameter, a limit and a cursor that are wrong", async () => {
      const { client } = fixture()
      for (const path of ["agents", "agents/x/agent-versions", "people", "fingerprints"]) {
        expectInvalid(await client.get(`/api/v1/${path}?backwards=true`), "extra_forbidden", "query", "backwards")
        expectInvalid(await client.get(`/api/v1/${path}?limit=1001`), "less_than_equal", "query", "limit")
        for (const cursor of ["", "x", "c1_", "c1_-0000001", "c1_ffffffff", "c1_1", "1"]) {
          expectInvalid(await client.get(`/api/v1/${path}?cursor=${cursor}`), "value_error", "query", "cursor")
        }
      }
      expect((await client.get("/api/v1/agents?cursor=c1_7fffffff")).body).toEqual({ agents: [], next_cursor: null })
    })

    it("reads a fingerprint with everything that was registered", async () => {
      const { client } = fixture()
      const fields = {
        language: "l",
        language_version: "v",
        system: "\u0000 \ud800 é",
        provider1_sdk_version: "1",
        provider2_sdk_version: null,
        provider3_sdk_version: "",
        service_sdk_version: "4",
        all_packages: { b: "2", a: "1", é: "\udfff" },
        git_repository_url: "u",
        git_branch: "b",
        git_commit_hash: "h",
        git_commit_date: "d"
      }
      const { fingerprint_id } = (await client.put("/api/v1/fingerprints", fields)).body
      const { body } = await client.get(`/api/v1/fingerprints/${fingerprint_id}`)
      expect(body).toEqual({ ...fields, fingerprint_id, created_at: expect.stringMatching(iso8601) })
      expectError(await client.get(`/api/v1/fingerprints/${unknownFingerprint}`), 404, "fingerprint-not-found")
      expectInvalid(await client.get("/api/v1/fingerprints/x"), "uuid_parsing", "path", "fingerprint_id")
    })

    it("deprecates a version once, and still records under it", { tags: ["adapter"] }, async () => {
      const { client, fingerprintId } = fixture()
      const path = "/api/v1/agents/old%3B/agent-versions/v%251"
      await client.put("/api/v1/agents", { agent_name: "old;" })
      expectError(await client.post(`${path}/deprecate`, undefined), 404, "agent-version-not-found")
      const { body: active } = await client.put("/api/v1/agents/old%3B/agent-versions", { agent_version_name: "v%1" })
      const { body: deprecated, status } = await client.post(`${path}/deprecate`, undefined)
      expect([status, deprecated]).toEqual([200, { ...active, deprecated_at: expect.stringMatching(iso8601) }])
      expect((await client.post(`${path}/deprecate`, undefined)).body).toEqual(deprecated)
      expect((await client.get(path)).body).toEqual(deprecated)
      const sent = event(fingerprintId, { agent: "old;", agent_version: "v%1" })
      expect((await client.post("/api/v1/events", sent)).status).toBe(200)
      expect((await client.get(path)).body).toEqual(deprecated)
      expectError(
        await client.post("/api/v1/agents/none/agent-versions/v/deprecate", undefined),
        404,
        "agent-not-found"
      )
    })
  })
}
