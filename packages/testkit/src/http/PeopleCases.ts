/** People. */
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { badNames, event, expectError, expectInvalid, goodNames, hasPath, iso8601 } from "./Requests.ts"

const people = "/api/v1/people"

export const define = ({ describe, fixture, it }: Cases) => {
  const put = (path: string, body: unknown) => fixture().client.put(path, body)
  const get = (path: string) => fixture().client.get(path)
  const record = async (fields: Record<string, unknown>) => {
    const { client, fingerprintId } = fixture()
    expect((await client.post("/api/v1/events", event(fingerprintId, fields))).status).toBe(200)
  }

  describe("People", () => {
    it("creates a person with an id, properties and a time", async () => {
      const properties = { plan: "pro", nested: { a: [1, null] } }
      const { body, status } = await put(people, { person_id: "ada", properties })
      expect(status).toBe(200)
      expect(body).toEqual({ person_id: "ada", properties, created_at: expect.stringMatching(iso8601) })
      expect((await get(`${people}/ada`)).body).toEqual(body)
    })

    it("requires person_id; properties may be absent or null", async () => {
      expectInvalid(await put(people, {}), "missing", "body", "person_id")
      expectInvalid(await put(people, { person_id: 1 }), "string_type", "body", "person_id")
      expectInvalid(await put(people, { person_id: "p", properties: [] }), "dict_type", "body", "properties")
      expect((await put(people, { person_id: "bare" })).body.properties).toEqual({})
      expect((await put(people, { person_id: "null", properties: null })).body.properties).toEqual({})
    })

    it("returns the stored person for a PUT of an existing id, and changes nothing", async () => {
      const first = await put(people, { person_id: "twice", properties: { a: 1 } })
      const again = await put(people, { person_id: "twice", properties: { b: 2 } })
      expect([again.status, again.body]).toEqual([200, first.body])
    })

    it("gets its properties from the first PUT after events have named it", async () => {
      await record({ person: "named" })
      const named = await get(`${people}/named`)
      expect(named.body.properties).toEqual({})
      const first = await put(people, { person_id: "named", properties: { a: 1 } })
      expect([first.status, first.body]).toEqual([200, { ...named.body, properties: { a: 1 } }])
      await record({ person: "named" })
      expect((await put(people, { person_id: "named", properties: { b: 2 } })).body).toEqual(first.body)
      expect((await get(`${people}/named`)).body).toEqual(first.body)
      // An update has decided them too, and so has a PUT without properties.
      await record({ person: "named and updated" })
      await put(`${people}/${encodeURIComponent("named and updated")}`, { properties: { c: 3 } })
      const late = await put(people, { person_id: "named and updated", properties: { b: 2 } })
      expect(late.body.properties).toEqual({ c: 3 })
      await record({ person: "named without" })
      await put(people, { person_id: "named without" })
      expect((await put(people, { person_id: "named without", properties: { b: 2 } })).body.properties).toEqual({})
    })

    it("replaces all properties in an update", async () => {
      const created = await put(people, { person_id: "changing", properties: { a: 1, b: 2 } })
      const updated = await put(`${people}/changing`, { properties: { b: 3 } })
      expect(updated.status).toBe(200)
      expect(updated.body).toEqual({ ...created.body, properties: { b: 3 } })
      expect((await get(`${people}/changing`)).body).toEqual(updated.body)
    })

    it("requires an object as properties in an update", async () => {
      await put(people, { person_id: "strict" })
      expectInvalid(await put(`${people}/strict`, {}), "missing", "body", "properties")
      expectInvalid(await put(`${people}/strict`, { properties: null }), "dict_type", "body", "properties")
      expectInvalid(await put(`${people}/strict`, { properties: "x" }), "dict_type", "body", "properties")
    })

    it("returns 404 person-not-found", async () => {
      expectError(await get(`${people}/nobody`), 404, "person-not-found")
      expectError(await put(`${people}/nobody`, { properties: {} }), 404, "person-not-found")
    })

    it("accepts any id in the body and in the path", async () => {
      for (const name of goodNames) {
        expect((await put(people, { person_id: name })).body.person_id).toBe(name)
        expect((await get(`${people}/${encodeURIComponent(name)}`)).body.person_id).toBe(name)
      }
      for (const [name, type] of badNames) {
        expectInvalid(await put(people, { person_id: name }), type, "body", "person_id")
        if (!hasPath(name)) continue
        expectInvalid(await get(`${people}/${encodeURIComponent(name)}`), type, "path", "person_id")
      }
    })
  })
}
