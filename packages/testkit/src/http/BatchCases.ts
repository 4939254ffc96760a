/** Batches of events: what a line takes, what it is answered, and that no line harms another. */
import { gzipSync } from "node:zlib"
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { event, expectError, uuid7 } from "./Requests.ts"

type Line = Record<string, any>

const path = "/api/v1/events"

export const define = ({ describe, fixture, it }: Cases) => {
  const lineOf = (session: string, fields: Record<string, unknown> = {}) =>
    JSON.stringify(event(fixture().fingerprintId, { session, ...fields }))

  const send = async (body: string | Uint8Array, headers: Record<string, string> = {}) => {
    const { status, text } = await fixture().client.call("POST", `${path}/batch`, body, {
      "content-type": "application/x-ndjson",
      ...headers
    })
    expect(status).toBe(200)
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line)
  }

  const eventsOf = async (session: string): Promise<ReadonlyArray<Line>> =>
    (await fixture().client.get(`${path}?session=${session}`)).body.events

  describe("A batch of events", () => {
    it("answers each line, in their order, whatever becomes of the others", { tags: ["adapter"] }, async () => {
      const { maxBody } = fixture()
      const answers = await send(
        [
          lineOf("batch", { duration_ms: 1 }),
          "",
          "no JSON",
          lineOf("batch", { duration_ms: -1 }),
          lineOf("batch", { fingerprint_id: "3b48b15a-06d3-8d6a-a03f-ade487541f0f" }),
          "\t ",
          lineOf("batch", { metadata: "x".repeat(maxBody) }),
          `${lineOf("batch", { duration_ms: 2, sesion: 1 })}\r`,
          lineOf(""),
          '"\\ud800"',
          lineOf("batch", { duration_ms: 3 })
        ].join("\n")
      )
      expect(answers.map(({ line, status }) => [line, status])).toEqual([
        [1, 200],
        [3, 422],
        [4, 422],
        [5, 404],
        [7, 413],
        [8, 200],
        [9, 422],
        [10, 422],
        [11, 200]
      ])
      const [first, noJson, wrong, unknown, tooLarge, named, unnamed] = answers
      expect(first).toEqual({
        line: 1,
        status: 200,
        event_id: expect.stringMatching(uuid7),
        received_at: expect.any(String)
      })
      expect(noJson!["detail"][0].type).toBe("json_invalid")
      expect(wrong!["detail"][0].loc).toEqual(["body", "duration_ms"])
      expect(unknown).toEqual({ line: 5, status: 404, type: "fingerprint-not-found" })
      expect(tooLarge).toEqual({ line: 7, status: 413, type: "payload-too-large" })
      expect(named!["ignored"]).toBe("sesion")
      expect(unnamed).toEqual({ line: 9, status: 422, type: "session-id-empty" })
      const events = await eventsOf("batch")
      expect(events.map(({ duration_ms }) => duration_ms)).toEqual([1, 2, 3])
      const stored = answers.flatMap(({ event_id }) => (event_id === undefined ? [] : [event_id]))
      expect(events.map(({ event_id }) => event_id)).toEqual(stored)
    })

    it("skips a line that is not UTF-8, and takes a byte order mark", async () => {
      const [good, bad] = [lineOf("batch bytes"), lineOf("batch bytes", { agent: "AGENT" })]
      const damaged = Buffer.from(`\ufeff${good}\n${bad}\n${good}`)
      damaged[damaged.indexOf("AGENT")] = 0xff
      expect((await send(damaged)).map(({ status }) => status)).toEqual([200, 422, 200])
    })

    it("takes every encoding of a body, and answers the line where it is damaged", { tags: ["adapter"] }, async () => {
      const lines = Array.from({ length: 20 }, (_, n) => lineOf("batch gzip", { duration_ms: n })).join("\n")
      const compressed = gzipSync(lines)
      expect(await send(compressed, { "content-encoding": "gzip" })).toHaveLength(20)
      const cut = gzipSync(`${lineOf("batch cut")}\n${lineOf("batch cut")}`).subarray(0, -8)
      const answers = await send(cut, { "content-encoding": "gzip" })
      expect(answers.at(-1)).toMatchObject({ line: answers.length, status: 422, detail: [{ type: "json_invalid" }] })
      expect(answers.slice(0, -1).map(({ status }) => status)).toEqual(answers.slice(1).map(() => 200))
      expect(await eventsOf("batch cut")).toHaveLength(answers.length - 1)
    })

    it("keeps the order of a session, also where lines are long", async () => {
      const filled = (n: number) => (n % 3 === 0 ? "x".repeat(100_000) : "y")
      const properties = (n: number) => ({ api: "aisdk", inputs: { text: filled(n), n }, output: {} })
      const lines = Array.from({ length: 30 }, (_, n) =>
        lineOf("batch order", { duration_ms: n, properties: properties(n) })
      )
      const answers = await send(lines.join("\n"))
      expect(answers.map(({ line }) => line)).toEqual(lines.map((_, n) => n + 1))
      expect((await eventsOf("batch order")).map(({ duration_ms }) => duration_ms)).toEqual(lines.map((_, n) => n))
    })

    it("stores a line with a key once, in a batch or alone", { tags: ["adapter"] }, async () => {
      const body = lineOf("batch keys")
      const keyed = (key: string, text = body) => `{"idempotency_key":${JSON.stringify(key)},${text.slice(1)}`
      const last = `${body.slice(0, -1)}, "idempotency\\u005fkey" : "k"}`
      const [first, again, written] = await send([keyed("k"), keyed("k"), last].join("\n"))
      const { event_id, received_at } = first!
      const replayed = { status: 200, event_id, received_at, idempotent_replayed: true }
      expect(first).toEqual({ line: 1, status: 200, event_id, received_at })
      expect([again, written]).toEqual([
        { line: 2, ...replayed },
        { line: 3, ...replayed }
      ])
      const alone = await fixture().client.call("POST", path, body, { "idempotency-key": "k" })
      expect([alone.body, alone.headers.get("idempotent-replayed")]).toEqual([{ event_id, received_at }, "true"])
      const others = [keyed("k", lineOf("batch keys", { person: "p" })), keyed("k", lineOf("batch keys 2")), keyed("é")]
      const answers = await send(
        [...others, `{"idempotency_key":5,${body.slice(1)}`, `{"idempotency_key":null,${body.slice(1)}`].join("\n")
      )
      expect(answers.map(({ status }) => status)).toEqual([422, 200, 422, 422, 200])
      expect(answers[0]!["type"]).toBe("idempotency-key-reused")
      for (const refused of answers.slice(2, 4)) expect(refused["detail"][0].loc).toEqual(["body", "idempotency_key"])
      expect(await eventsOf("batch keys")).toHaveLength(2)
    })

    it("is answered by nothing where it has no lines", async () => {
      expect(await send("")).toEqual([])
      expect(await send("\n\r\n")).toEqual([])
    })

    it("needs the scope record, and an encoding that is known", async () => {
      const { as, client, issue } = fixture()
      const reader = as((await issue({ scopes: ["read"] })).key)
      const recorder = as((await issue({ scopes: ["record"] })).key)
      expectError(await reader.post(`${path}/batch`, lineOf("batch")), 403, "forbidden")
      expect((await recorder.post(`${path}/batch`, lineOf("batch scope"))).body.status).toBe(200)
      const unknown = await client.call("POST", `${path}/batch`, "", { "content-encoding": "x" })
      expectError(unknown, 415, "unsupported-content-encoding")
    })
  })
}
