/** The audit log, as the interface reports it. */
import { expect } from "vitest"
import { createHash } from "node:crypto"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event, expectInvalid } from "./Requests.ts"

const path = "/api/v1/audit"

interface Entry {
  readonly at: string
  readonly action: string
  readonly actor: string
  readonly subject: string | null
  readonly events: number | null
}

const hashOf = (name: string) => createHash("sha256").update(name).digest("hex")

export const define = ({ describe, fixture, it }: Cases) => {
  const inProject = async (project: string) => {
    const { as, issue } = fixture()
    const { id, key } = await issue({ scopes: ["admin"], project })
    const client: Client = as(key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "1", system: "s" })
    const record = async (fields: Record<string, unknown>) =>
      expect((await client.post("/api/v1/events", event(body.fingerprint_id, fields))).status).toBe(200)
    const entries = async (query = ""): Promise<ReadonlyArray<Entry>> =>
      (await client.get(`${path}?${query}`)).body.entries
    return { client, entries, id, key, record }
  }

  const rowsOf = (entries: ReadonlyArray<Entry>) =>
    entries.map(({ action, actor, events, subject }) => [action, actor, subject, events])

  describe("Audit", () => {
    it("says who erased what, and nothing of what was erased", { tags: ["adapter"] }, async () => {
      const { client, entries, id, record } = await inProject("audit erasures")
      await record({ session: "planted-session", person: "planted-person" })
      await record({ session: "planted-session" })
      expect((await client.call("DELETE", "/api/v1/people/planted-person")).status).toBe(200)
      expect((await client.call("DELETE", "/api/v1/sessions/planted-session")).status).toBe(200)
      await record({ session: "planted-session" })
      const { event_id } = (await client.get("/api/v1/events")).body.events[0]
      expect((await client.call("DELETE", `/api/v1/events/${event_id}`)).status).toBe(200)
      expect((await client.call("DELETE", `/api/v1/events/${event_id}`)).status).toBe(404)
      // Nothing is erased, and so there is nothing to tell.
      expect((await client.call("DELETE", "/api/v1/sessions/planted-session")).status).toBe(404)
      const found = await entries()
      expect(rowsOf(found)).toEqual([
        ["event-erased", id, hashOf(event_id), 1],
        ["event-erasure", id, hashOf(event_id), null],
        ["session-erased", id, hashOf("planted-session"), 1],
        ["session-erasure", id, hashOf("planted-session"), null],
        ["person-erased", id, hashOf("planted-person"), 1],
        ["person-erasure", id, hashOf("planted-person"), null],
        ["key-created", "in process", id, null]
      ])
      expect(JSON.stringify(found)).not.toContain("planted")
      expect(found.every(({ at }) => Math.abs(Date.parse(at) - Date.now()) < 60 * 60 * 1000)).toBe(true)
    })

    it("says which keys were created and revoked, each once, and in their own project only", async () => {
      const { entries, id } = await inProject("audit keys")
      const { issue, revoke } = fixture()
      const other = await issue({ scopes: ["read"], project: "audit keys" })
      await revoke(other.id)
      await revoke(other.id)
      await issue({ scopes: ["read"], project: "audit others" })
      expect(rowsOf(await entries())).toEqual([
        ["key-revoked", "in process", other.id, null],
        ["key-created", "in process", other.id, null],
        ["key-created", "in process", id, null]
      ])
    })

    it("lists pages and periods, the latest first", async () => {
      const { client, entries } = await inProject("audit pages")
      for (let n = 0; n < 4; n++) await fixture().issue({ scopes: ["read"], project: "audit pages" })
      const all = await entries()
      expect(all).toHaveLength(5)
      const paged: Array<Entry> = []
      for (let cursor = ""; ;) {
        const { body } = await client.get(`${path}?limit=2${cursor}`)
        paged.push(...body.entries)
        if (body.next_cursor === null) break
        cursor = `&cursor=${body.next_cursor}`
      }
      expect(paged).toEqual(all)
      const [latest, earliest] = [all[0]!.at, all.at(-1)!.at]
      expect(await entries(`after=${earliest}`)).toEqual(all)
      expect(await entries(`before=${earliest}`)).toEqual([])
      expect(await entries("after=2100-01-01T00:00:00Z")).toEqual([])
      expect((await entries(`after=${latest}`)).at(0)).toEqual(all[0])
      expectInvalid(await client.get(`${path}?cursor=c1_1`), "value_error", "query", "cursor")
    })
  })
}
