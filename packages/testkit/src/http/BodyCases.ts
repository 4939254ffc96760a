/** The content type, the encoding and the size of a body. */
import { Buffer } from "node:buffer"
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { event, expectError, expectInvalid } from "./Requests.ts"

const path = "/api/v1/agents"

/** The default quality takes seconds for 32 MiB. */
const brotli = (body: Buffer) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })

const encodings: ReadonlyArray<readonly [name: string, compress: (body: Buffer) => Uint8Array]> = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotli],
  ["zstd", zstdCompressSync]
]

/** Adds a field to a JSON object, so that its text has a given number of bytes. */
const padded = (object: object, bytes: number) => {
  const [start, end] = [`${JSON.stringify(object).slice(0, -1)},"x":"`, `"}`]
  return start + "x".repeat(bytes - start.length - end.length) + end
}

/** An object with this many levels of arrays or of objects in it. */
const nestings: ReadonlyArray<readonly [name: string, nested: (levels: number) => string]> = [
  ["arrays", (levels) => `{"deep":${"[".repeat(levels)}${"]".repeat(levels)}}`],
  ["objects", (levels) => `${'{"":'.repeat(levels)}{}${"}".repeat(levels)}`]
]

/** Within the value of a field. */
const maxLevels = 10_000

/** The two kinds of bodies, which have limits of their own. */
const kinds = ["an event", "an agent"] as const

export const define = ({ describe, fixture, it }: Cases) => {
  const send = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fixture().client.call("PUT", path, body, headers)

  const sized = (kind: (typeof kinds)[number]) => {
    const { client, fingerprintId, maxBody, maxOtherBody } = fixture()
    const [method, target, object, limit] =
      kind === "an event"
        ? (["POST", "/api/v1/events", event(fingerprintId), maxBody] as const)
        : (["PUT", path, { agent_name: "sized" }, maxOtherBody] as const)
    return {
      limit,
      send: (bytes: number, encode: (body: Buffer) => Uint8Array = (body) => body, headers = {}) =>
        client.call(method, target, new Uint8Array(encode(Buffer.from(padded(object, bytes)))), headers)
    }
  }

  describe("Bodies", () => {
    it.each(
      [
        "application/json",
        "Application/JSON; Charset=UTF-8",
        "application/problem+json",
        "application/JSON ;x=y",
        "application/+json"
      ],
      { tags: ["adapter"] }
    )("accepts JSON as %s", async (type) => {
      expect((await send(`{"agent_name":"typed"}`, { "content-type": type })).status).toBe(200)
    })

    it.each(["text/plain", "application/xml", "application/json-seq", "json"], { tags: ["adapter"] })(
      "rejects JSON as %s",
      async (type) => {
        expectInvalid(await send(`{"agent_name":"x"}`, { "content-type": type }), "model_attributes_type", "body")
      }
    )

    const acceptsCompressed = async (
      kind: (typeof kinds)[number],
      encoding: string,
      compress: (body: Buffer) => Uint8Array
    ) => {
      const { limit, send } = sized(kind)
      const headers = { "content-encoding": encoding }
      expect((await send(100_000, compress, headers)).status).toBe(200)
      expectError(await send(limit + 1, compress, headers), 413, "payload-too-large")
    }
    const compressedTitle = "accepts %s in %s, and limits the decompressed size"
    const [first, ...others] = encodings.map(([encoding, compress]) => ["an event", encoding, compress] as const)
    const ofAgents = encodings.map(([encoding, compress]) => ["an agent", encoding, compress] as const)

    // The limit is the same for each encoding, and an adapter knows no kinds of bodies.
    it.each([first!], { tags: ["adapter", "body-limit"] })(compressedTitle, acceptsCompressed)
    it.each(others, { tags: ["adapter"] })(compressedTitle, acceptsCompressed)
    it.each(ofAgents.slice(0, 1), { tags: ["body-limit"] })(compressedTitle, acceptsCompressed)
    it.each(ofAgents.slice(1))(compressedTitle, acceptsCompressed)

    it.each(encodings, { tags: ["adapter"] })("rejects a body that is not valid %s", async (encoding) => {
      expectInvalid(await send(`{"agent_name":"x"}`, { "content-encoding": encoding }), "json_invalid", "body", "0")
    })

    it("rejects any other encoding", { tags: ["adapter"] }, async () => {
      const answer = await send(`{"agent_name":"x"}`, { "content-encoding": "compress" })
      expectError(answer, 415, "unsupported-content-encoding")
    })

    it.each(nestings)(
      "stores properties of a person with %s 10,000 levels deep, and rejects deeper ones",
      async (name, nested) => {
        const { client } = fixture()
        const people = "/api/v1/people"
        const deepest = nested(maxLevels)
        for (const [method, target, body] of [
          ["PUT", people, `{"person_id":"${name}","properties":${deepest}}`],
          ["PUT", `${people}/${name}`, `{"properties":${deepest}}`],
          ["GET", `${people}/${name}`, undefined]
        ] as const) {
          const answer = await client.call(method, target, body)
          expect([answer.status, answer.text.includes(`"properties":${deepest}`)]).toEqual([200, true])
        }
        for (const levels of [maxLevels + 1, 50_000]) {
          for (const [target, id] of [
            [people, `"person_id":"deeper",`],
            [`${people}/${name}`, ""]
          ] as const) {
            expectInvalid(
              await client.put(target, `{${id}"properties":${nested(levels)}}`),
              "json_invalid",
              "body",
              "0"
            )
          }
        }
        expect((await client.get(`${people}/${name}`)).text).toContain(deepest)
      }
    )

    it("stores inputs and output nested to any depth, and bounds the depth of what is beside them", async () => {
      const { client, fingerprintId } = fixture()
      const text = JSON.stringify(event(fingerprintId, { properties: { api: "aisdk", inputs: {}, output: {} } }))
      for (const [name, nested] of nestings) {
        const deepest = nested(50_000)
        const body = text.replace('"inputs":{},"output":{}', `"inputs":${deepest},"output":${deepest}`)
        const answer = await client.post("/api/v1/events", body.replace("{", `{"beside":${nested(maxLevels)},`))
        expect([name, answer.status]).toEqual([name, 200])
        const stored = await client.get(`/api/v1/events/${answer.body.event_id}`)
        expect(stored.text.includes(`"inputs":${deepest},"output":${deepest}`)).toBe(true)
        for (const levels of [maxLevels + 1, 20_000]) {
          const deeper = await client.post("/api/v1/events", body.replace("{", `{"beside":${nested(levels)},`))
          expectInvalid(deeper, "json_invalid", "body", "0")
        }
      }
    })

    it.each([
      ["short", 1_000],
      ["long", 1_000_000]
    ])("judges a %s event as any other", async (_length, bytes) => {
      const { client, fingerprintId } = fixture()
      const text = padded(event(fingerprintId), bytes)
      const send = (body: string) => client.post("/api/v1/events", body)
      expect((await send(text)).status).toBe(200)
      expect((await send(`\ufeff${text} `)).status).toBe(200)
      expectInvalid(await send(text.slice(0, -1)), "json_invalid", "body", String(bytes - 1))
      expectInvalid(await send(`${text.slice(0, -3)}\u{1f600}\n"}`), "json_invalid", "body", String(bytes - 1))
      expectInvalid(await send(`${text}x`), "json_invalid", "body", String(bytes))
      expectInvalid(await send(`${text.slice(0, -1)},"session":7}`), "string_type", "body", "session")
      expectInvalid(await send(text.replace('"llm"', '"other"')), "literal_error", "body", "event_name")
      expectInvalid(await send(`[${text}]`), "model_attributes_type", "body")
    })

    it.each(kinds, { tags: ["adapter", "body-limit"] })(
      "accepts the body of %s of the maximum size, and rejects one byte more",
      async (kind) => {
        const { limit, send } = sized(kind)
        expect((await send(limit)).status).toBe(200)
        expectError(await send(limit + 1), 413, "payload-too-large")
      }
    )
  })
}
