/** Payloads are returned byte for byte. */
import fc from "fast-check"
import { createHash } from "node:crypto"
import { expect } from "vitest"
import * as Payloads from "../Payloads.ts"
import * as RandomJson from "../RandomJson.ts"
import type { Cases } from "./Cases.ts"
import { eventText, expectError, expectInvalid } from "./Requests.ts"

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
        // The same on each carrier; the packages that split and join payloads try many more.
        { numRuns: RandomJson.runs(40) }
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

    it("answers a range of a text, and nothing where it has not changed", { tags: ["adapter"] }, async () => {
      const { client, fingerprintId } = fixture()
      const text = `{"n":"é"}`
      const { body } = await client.post("/api/v1/events", eventText(fingerprintId, text, "{}"))
      const path = `/api/v1/events/${body.event_id}/inputs`
      const whole = await client.get(path)
      expect([whole.status, whole.text, whole.headers.get("accept-ranges")]).toEqual([200, text, "bytes"])
      expect(whole.headers.get("repr-digest")).toMatch(/^sha-256=:.*:$/)
      const etag = whole.headers.get("etag")!
      const call = async (headers: Record<string, string>, method = "GET") => {
        const answer = await client.call(method, path, undefined, headers)
        return [answer.status, answer.text, answer.headers.get("content-range"), answer.headers.get("etag")]
      }
      expect(await call({ range: "bytes=1-3" })).toEqual([206, `"n"`, "bytes 1-3/10", etag])
      expect(await call({ range: "bytes=1-3", "if-range": `"another"` })).toEqual([200, text, null, etag])
      expect((await call({ range: "bytes=10-" })).slice(0, 3)).toEqual([
        416,
        `{"type":"range-not-satisfiable"}`,
        "bytes */10"
      ])
      expect(await call({ "if-none-match": `"another", ${etag}` })).toEqual([304, "", null, etag])
      expect(await call({ range: "bytes=1-3" }, "HEAD")).toEqual([200, "", null, etag])
    })

    it("answers each text alone, whole or a range of it, with its digest", async () => {
      const { client, fingerprintId } = fixture()
      const texts = { inputs: `{ "n" : 1.0, "big":9007199254740993, "n":"é" }`, output: "{}" }
      const created = await client.post("/api/v1/events", eventText(fingerprintId, texts.inputs, texts.output))
      for (const [name, text] of Object.entries(texts)) {
        const path = `/api/v1/events/${created.body.event_id}/${name}`
        const bytes = Buffer.from(text)
        const digest = createHash("sha256").update(bytes).digest("base64")
        const ranged = async (range: string, headers: Record<string, string> = {}) => {
          const answer = await client.call("GET", path, undefined, { range, "accept-encoding": "br", ...headers })
          return [answer.status, answer.bytes.toString(), answer.headers.get("content-range")]
        }
        const whole = await client.get(path)
        expect([whole.status, whole.text]).toEqual([200, text])
        expect(whole.headers.get("repr-digest")).toBe(`sha-256=:${digest}:`)
        expect(whole.headers.get("accept-ranges")).toBe("bytes")
        const size = bytes.length
        expect(await ranged("bytes=0-0")).toEqual([206, "{", `bytes 0-0/${size}`])
        expect(await ranged("bytes=1-")).toEqual([206, bytes.subarray(1).toString(), `bytes 1-${size - 1}/${size}`])
        expect(await ranged("bytes=-1")).toEqual([206, "}", `bytes ${size - 1}-${size - 1}/${size}`])
        expect(await ranged("bytes=0-999")).toEqual([206, text, `bytes 0-${size - 1}/${size}`])
        for (const range of [`bytes=${size}-`, "bytes=-0"]) {
          expect(await ranged(range)).toEqual([416, `{"type":"range-not-satisfiable"}`, `bytes */${size}`])
        }
        // What is no range, or several, asks for the whole; so does a range of another text.
        for (const range of ["bytes=1-0", "bytes=0-0,1-1", "bytes=-", "lines=0-0", "bytes=a-b"]) {
          expect(await ranged(range)).toEqual([200, text, null])
        }
        expect(await ranged("bytes=0-0", { "if-range": whole.headers.get("etag")! })).toEqual([
          206,
          "{",
          `bytes 0-0/${size}`
        ])
        expect(await ranged("bytes=0-0", { "if-range": `"another"` })).toEqual([200, text, null])
        const etag = whole.headers.get("etag")!
        for (const tags of [etag, `W/${etag}`, `"another", ${etag}`, "*"]) {
          const same = await client.call("GET", path, undefined, { "if-none-match": tags, range: "bytes=0-0" })
          expect([same.status, same.text, same.headers.get("etag")]).toEqual([304, "", etag])
        }
        const other = await client.call("GET", path, undefined, { "if-none-match": `"another", W/"x"` })
        expect([other.status, other.text]).toEqual([200, text])
        // A range is only of what GET answers.
        for (const range of ["bytes=0-0", `bytes=${size}-`]) {
          const head = await client.call("HEAD", path, undefined, { range })
          expect([head.status, head.text, head.headers.get("content-range")]).toEqual([200, "", null])
          expect([head.headers.get("content-length"), head.headers.get("etag")]).toEqual([String(size), etag])
        }
      }
      const missing = await client.get("/api/v1/events/00000000-0000-7000-8000-000000000000/inputs")
      expect([missing.status, missing.body.type]).toEqual([404, "event-not-found"])
    })

    it("answers a shared text by its name, to its project, until it is erased", async () => {
      const { as, client, fingerprintId, issue } = fixture()
      const text = `"shared \\u00e9 ${"Be careful. ".repeat(1_000)}"`
      const sha256 = createHash("sha256").update(text).digest("hex")
      const path = `/api/v1/shared/${sha256}`
      expectError(await client.get(path), 404, "shared-text-not-found")
      const body = eventText(fingerprintId, `{"system":${text}}`, "{}").replace('"verbatim"', '"shares"')
      expect((await client.post("/api/v1/events", body)).status).toBe(200)
      const whole = await client.get(path)
      expect([whole.status, whole.text]).toEqual([200, text])
      const digest = Buffer.from(sha256, "hex").toString("base64")
      expect(whole.headers.get("repr-digest")).toBe(`sha-256=:${digest}:`)
      const part = await client.call("GET", path, undefined, { range: "bytes=1-6", "accept-encoding": "br" })
      expect([part.status, part.text]).toEqual([206, "shared"])
      expect(part.headers.get("content-range")).toBe(`bytes 1-6/${text.length}`)
      const { key } = await issue({ scopes: ["read"], project: "another that shares" })
      expectError(await as(key).get(path), 404, "shared-text-not-found")
      for (const name of [sha256.toUpperCase(), sha256.slice(1), `${sha256}0`, "x"]) {
        expectInvalid(await client.get(`/api/v1/shared/${name}`), "string_pattern_mismatch", "path", "sha256")
      }
      expect((await client.call("DELETE", "/api/v1/sessions/shares")).status).toBe(200)
      expectError(await client.get(path), 404, "shared-text-not-found")
    })

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
