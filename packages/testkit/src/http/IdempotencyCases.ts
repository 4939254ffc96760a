/** `Idempotency-Key`: a repeated request records nothing more. */
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { event, expectError, expectInvalid } from "./Requests.ts"

const path = "/api/v1/events"
const replayed = "idempotent-replayed"

export const define = ({ describe, fixture, it }: Cases) => {
  const send = (key: string, fields: Record<string, unknown>, headers: Record<string, string> = {}) => {
    const { client, fingerprintId } = fixture()
    return client.call("POST", path, event(fingerprintId, fields), { "idempotency-key": key, ...headers })
  }
  const countOf = async (session: string) =>
    (await fixture().client.get(`${path}?session=${session}`)).body.events.length

  describe("Idempotency-Key", () => {
    it(
      "returns the first response to a repeated request, and marks it as replayed",
      { tags: ["adapter"] },
      async () => {
        const first = await send("k", { session: "idempotent" })
        expect([first.status, first.headers.get(replayed)]).toEqual([200, null])
        for (let n = 0; n < 3; n++) {
          const again = await send("k", { session: "idempotent" })
          expect([again.status, again.text, again.headers.get(replayed)]).toEqual([200, first.text, "true"])
        }
        expect(await countOf("idempotent")).toBe(1)
      }
    )

    it("rejects a different body, and stores nothing of it", async () => {
      await send("k2", { session: "first" })
      expectError(await send("k2", { session: "first", output: "another" }), 422, "idempotency-key-reused")
      expect(await countOf("first")).toBe(1)
    })

    it("compares the bytes of the decompressed body", { tags: ["adapter"] }, async () => {
      const { client, fingerprintId } = fixture()
      const text = JSON.stringify(event(fingerprintId, { session: "bytes" }))
      const headers = { "idempotency-key": "k3", "content-type": "application/json" }
      const first = await client.call("POST", path, text, headers)
      const gzip = new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip")))
      const compressed = new Uint8Array(await gzip.arrayBuffer())
      const again = await client.call("POST", path, compressed, { ...headers, "content-encoding": "gzip" })
      expect([again.text, again.headers.get(replayed)]).toEqual([first.text, "true"])
      expectError(await client.call("POST", path, `${text} `, headers), 422, "idempotency-key-reused")
    })

    it("is scoped to its session", async () => {
      const answers = [await send("k4", { session: "one" }), await send("k4", { session: "two" })]
      expect(answers.map(({ headers, status }) => [status, headers.get(replayed)])).toEqual([
        [200, null],
        [200, null]
      ])
      expect([await countOf("one"), await countOf("two")]).toEqual([1, 1])
    })

    it("is scoped to its project", async () => {
      const { as, issue } = fixture()
      const client = as((await issue({ project: "another with keys", scopes: ["admin"] })).key)
      const fingerprint = { language: "js", language_version: "1", system: "s" }
      const { fingerprint_id } = (await client.put("/api/v1/fingerprints", fingerprint)).body
      const first = await send("shared", { session: "here" })
      const there = await client.call("POST", path, event(fingerprint_id), { "idempotency-key": "shared" })
      expect([first.status, there.status, there.headers.get(replayed)]).toEqual([200, 200, null])
      expect(there.body.event_id).not.toBe(first.body.event_id)
    })

    it("is not taken by a rejected request", async () => {
      expect((await send("after refusal", { session: 7 })).status).toBe(422)
      expectError(await send("after refusal", { session: "" }), 422, "session-id-empty")
      const sent = await send("after refusal", { session: "after refusal" })
      expect([sent.status, sent.headers.get(replayed)]).toEqual([200, null])
    })

    it("records one event for 50 concurrent requests, and returns the same response to all", async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => send("at once", { session: "at once" })))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect(answers.filter(({ headers }) => headers.get(replayed) === null)).toHaveLength(1)
      expect(await countOf("at once")).toBe(1)
    })

    it("can be used again once its event is erased", async () => {
      const first = await send("erased", { session: "erased with key" })
      await fixture().client.call("DELETE", "/api/v1/sessions/erased%20with%20key")
      const again = await send("erased", { session: "erased with key" })
      expect([again.status, again.headers.get(replayed)]).toEqual([200, null])
      expect(again.body.event_id).not.toBe(first.body.event_id)
    })

    it("has 1 to 255 printable ASCII characters", { tags: ["adapter"] }, async () => {
      expect((await send("x".repeat(255), { session: "long" })).status).toBe(200)
      expectInvalid(await send("x".repeat(256), {}), "string_too_long", "header", "idempotency-key")
      expect((await send("! ~", { session: "printable" })).status).toBe(200)
      for (const other of ["caf\u00e9", "a\tb"]) {
        expectInvalid(await send(other, {}), "value_error", "header", "idempotency-key")
      }
      expectInvalid(await send("", {}), "string_too_short", "header", "idempotency-key")
    })
  })
}
