/** Payloads come back to the byte. */
import fc from "fast-check"
import { describe, expect } from "vitest"
import * as Payloads from "../Payloads.ts"
import * as RandomJson from "../RandomJson.ts"
import type { Cases } from "./Cases.ts"
import { eventText } from "./Requests.ts"

export const define = ({ it, subject }: Cases) => {
  /** Sends, reads back, and expects both halves in the answer's text as they were sent. */
  const roundTrip = async (inputs: string, output: string, body?: string) => {
    const { client, fingerprintId } = subject()
    const created = await client.post("/api/v1/events", body ?? eventText(fingerprintId, inputs, output))
    expect([created.status, created.text.slice(0, 300)]).toEqual([200, expect.any(String)])
    const { text } = await client.get(`/api/v1/events/${created.body.event_id}`)
    const expected = `"inputs":${inputs},"output":${output}}`
    if (!text.includes(expected)) expect(text).toContain(expected)
  }

  describe("Verbatim", () => {
    it.each(Object.keys(Payloads.hurtful))("keeps %s", async (name) => {
      const text = Payloads.hurtful[name]!
      await roundTrip(text, "{}")
      await roundTrip(`{ }`, text)
    })

    it("keeps any JSON object, however it is written", async () => {
      await fc.assert(
        fc.asyncProperty(RandomJson.jsonObjectText, RandomJson.jsonObjectText, (inputs, output) =>
          roundTrip(inputs, output)
        ),
        { numRuns: 200 }
      )
    })

    it("finds the payload wherever it stands in the body, the last of duplicates", async () => {
      const { fingerprintId: id } = subject()
      const rest = `"event_name":"llm","fingerprint_id":"${id}","session":"s"`
      const inputs = `{"x": "},\\"inputs\\":{"}`
      const bodies = [
        ` {\n"properties" : { "output" :{"o":1} , "x":[{"inputs":{}}], "inputs":${inputs} , "api":"aisdk" } ,${rest}}\n`,
        `{"properties":{"inputs":{"old":1}},${rest},"properties":{"inputs":0,"api":"aisdk","inputs":${inputs},"output":{"o":1}}}`,
        `{"x":{"properties":{"inputs":{}}},${rest},"prop\\u0065rties":{"api":"aisdk","\\u0069nputs":${inputs},"output":{"o":1}}}`,
        `{${rest},"properties":[1],"properties":null,"properties":{"api":"aisdk","inputs":${inputs},"output":{"o":1}}}`
      ]
      for (const body of bodies) await roundTrip(inputs, `{"o":1}`, body)
    })

    it("keeps a person's properties", async () => {
      const { client } = subject()
      const people = Object.entries(Payloads.hurtful)
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
