/** Payloads are returned byte for byte. */
import fc from "fast-check"
import { expect } from "vitest"
import * as Payloads from "../Payloads.ts"
import * as RandomJson from "../RandomJson.ts"
import type { Cases } from "./Cases.ts"
import { eventText } from "./Requests.ts"

export const define = ({ describe, fixture, it }: Cases) => {
  /** Records a payload and expects the same bytes when it is read. */
  const roundTrip = async (inputs: string, output: string, body?: string) => {
    const { client, fingerprintId } = fixture()
    const created = await client.post("/api/v1/events", body ?? eventText(fingerprintId, inputs, output))
    expect([created.status, created.text.slice(0, 300)]).toEqual([200, expect.any(String)])
    const { text } = await client.get(`/api/v1/events/${created.body.event_id}`)
    const expected = `"inputs":${inputs},"output":${output}}`
    if (!text.includes(expected)) expect(text).toContain(expected)
  }

  describe("Verbatim", () => {
    it.each(Object.keys(Payloads.awkward), { tags: ["adapter"] })("preserves %s", async (name) => {
      const text = Payloads.awkward[name]!
      await roundTrip(text, "{}")
      await roundTrip(`{ }`, text)
    })

    it("preserves random JSON objects", async () => {
      await fc.assert(
        fc.asyncProperty(RandomJson.jsonObjectText, RandomJson.jsonObjectText, (inputs, output) =>
          roundTrip(inputs, output)
        ),
        { numRuns: RandomJson.runs(100) }
      )
    })

    it(
      "finds the payload anywhere in the body, and uses the last of duplicate keys",
      { tags: ["adapter"] },
      async () => {
        const { fingerprintId: id } = fixture()
        const rest = `"event_name":"llm","fingerprint_id":"${id}","session":"s"`
        const inputs = `{"x": "},\\"inputs\\":{"}`
        const bodies = [
          ` {\n"properties" : { "output" :{"o":1} , "x":[{"inputs":{}}], "inputs":${inputs} , "api":"aisdk" } ,${rest}}\n`,
          `{"properties":{"inputs":{"old":1}},${rest},"properties":{"inputs":0,"api":"aisdk","inputs":${inputs},"output":{"o":1}}}`,
          `{"x":{"properties":{"inputs":{}}},${rest},"prop\\u0065rties":{"api":"aisdk","\\u0069nputs":${inputs},"output":{"o":1}}}`,
          `{${rest},"properties":[1],"properties":null,"properties":{"api":"aisdk","inputs":${inputs},"output":{"o":1}}}`
        ]
        for (const body of bodies) await roundTrip(inputs, `{"o":1}`, body)
      }
    )

    it("preserves a person's properties", { tags: ["adapter"] }, async () => {
      const { client } = fixture()
      const people = Object.entries(Payloads.awkward)
      for (const [name, properties] of people) {
        const created = await client.put(
          "/api/v1/people",
          `{"person_id":${JSON.stringify(name)},"properties":${properties}}`
        )
        expect(created.status).toBe(200)
        const { text } = await client.get(`/api/v1/people/${encodeURIComponent(name)}`)
        expect(text.includes(`"properties":${properties},`)).toBe(true)
      }
    })
  })
}
