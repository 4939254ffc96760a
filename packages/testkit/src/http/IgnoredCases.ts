/** Unknown fields of a body: they change nothing, and the answer names them. */
import { expect } from "vitest"
import type { Answer } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event } from "./Requests.ts"

const ignoredIn = ({ headers, status }: Answer) => {
  expect(status).toBe(200)
  return headers.get("tachograph-ignored")
}

export const define = ({ describe, fixture, it }: Cases) => {
  const record = async (fields: Record<string, unknown>) =>
    ignoredIn(await fixture().client.post("/api/v1/events", event(fixture().fingerprintId, fields)))

  describe("Unknown fields", () => {
    it("are named, in the order of the body, each once", { tags: ["adapter"] }, async () => {
      const { fingerprintId } = fixture()
      const { properties, ...known } = event(fingerprintId)
      const body = { zeta: 1, properties: { inptus: {}, ...properties, alpha: null }, ...known, alpha: [{ zeta: 1 }] }
      const text = `${JSON.stringify(body).slice(0, -1)},"zeta":2}`
      expect(ignoredIn(await fixture().client.post("/api/v1/events", text))).toBe(
        "zeta, properties.inptus, properties.alpha, alpha"
      )
    })

    it("are not those of a payload, of metadata or of a person's properties", async () => {
      const { client } = fixture()
      const own = { event_name: 1, own: { own: 1 } }
      const properties = { api: "provider2-messages", inputs: own, output: own }
      expect(await record({ properties, metadata: own })).toBeNull()
      expect(ignoredIn(await client.put("/api/v1/people", { person_id: "ignored", properties: own }))).toBeNull()
      expect(ignoredIn(await client.put("/api/v1/people/ignored", { properties: own }))).toBeNull()
    })

    it("are named by each endpoint that takes an object", async () => {
      const { client } = fixture()
      const version = "/api/v1/agents/ignored/agent-versions"
      const fingerprint = { language: "l", language_version: "1", system: "s" }
      for (const [path, body] of [
        ["/api/v1/agents", { agent_name: "ignored" }],
        [version, { agent_version_name: "1" }],
        ["/api/v1/fingerprints", fingerprint],
        ["/api/v1/people", { person_id: "ignored" }],
        ["/api/v1/people/ignored", { properties: {} }]
      ] as const) {
        expect([path, ignoredIn(await client.put(path, { ...body, naem: 1, toString: 1 }))]).toEqual([
          path,
          "naem, toString"
        ])
      }
    })

    it("are escaped, and cut where they are long or many", async () => {
      expect(await record({ "a.b, c\r\né\u0000%": 1, "": 1 })).toBe('a%2Eb%2C%20c%0D%0A%C3%A9%00%25, ""')
      const name = "\u{1f600}".repeat(64)
      expect(await record({ [name]: 1 })).toBe(encodeURIComponent(name))
      expect(await record({ [`${name}x`]: 1 })).toBe(`${encodeURIComponent(name)}...`)
      const many = Array.from({ length: 2_000 }, (_, n) => `field${n}`)
      const names = (await record(Object.fromEntries(many.map((each) => [each, 1]))))!.split(", ")
      expect(names.at(-1)).toBe("...")
      expect(names.slice(0, -1)).toEqual(many.slice(0, names.length - 1))
      expect(names.join(", ").length).toBeLessThanOrEqual(1_024)
      expect(names.join(", ").length).toBeGreaterThan(1_000)
    })

    it("of a long event are named too", async () => {
      const output = { text: "x".repeat(300_000) }
      const properties = { api: "provider2-messages", inputs: {}, output, ouput: output }
      expect(await record({ properties, sesion: "s" })).toBe("properties.ouput, sesion")
    })
  })
}
