/** OpenTelemetry: posts of OTLP in both encodings, and what they are answered. */
import { gzipSync } from "node:zlib"
import { expect } from "vitest"
import * as OtlpPosts from "../OtlpPosts.ts"
import type { Cases } from "./Cases.ts"

const path = "/otlp/v1/traces"

const idOf = (digits: number, number: number): string => number.toString(16).padStart(digits, "0")

let traces = 0

/** A call of which the span says all. */
const callOf = (session: string, attributes: Record<string, unknown> = {}): OtlpPosts.ShortSpan => ({
  traceId: idOf(32, ++traces),
  spanId: idOf(16, traces),
  attributes: {
    "gen_ai.operation.name": "chat",
    "gen_ai.conversation.id": session,
    "gen_ai.request.model": "gpt-5-mini",
    "gen_ai.input.messages": `[{"role":"user","parts":[{"type":"text","content":"Hello \\u2713"}]}]`,
    "gen_ai.usage.input_tokens": 9_007_199_254_740_993n,
    ...attributes
  }
})

const encodings = [
  ["application/json", (post: object) => Buffer.from(JSON.stringify(post))],
  ["application/x-protobuf", (post: object) => OtlpPosts.toProtobuf(post)]
] as const

export const define = ({ describe, fixture, it }: Cases) => {
  const send = (body: Uint8Array, type: string, headers: Record<string, string> = {}, to = path) =>
    fixture().client.call("POST", to, body, { "content-type": type, ...headers })

  const eventsOf = async (session: string): Promise<ReadonlyArray<Record<string, any>>> =>
    (await fixture().client.get(`/api/v1/events?session=${session}`)).body.events

  describe("OpenTelemetry", () => {
    it.each(encodings, { tags: ["adapter"] })("records a call once, of a post in %s", async (type, encode) => {
      const session = `otlp-${type}`
      const span = callOf(session)
      const body = encode(OtlpPosts.traces([span]))
      for (const [sent, headers] of [
        [body, {}],
        [gzipSync(body), { "content-encoding": "gzip" }]
      ] as const) {
        const answer = await send(sent, type, headers)
        expect(answer.status).toBe(200)
        expect(answer.headers.get("content-type")).toBe(type)
        expect(answer.text).toBe(type === "application/json" ? "{}" : "")
      }
      const events = await eventsOf(session)
      expect(events).toHaveLength(1)
      expect(events[0]).toMatchObject({
        api: "aisdk",
        trace_id: span.traceId,
        span_id: span.spanId,
        occurred_at: "2026-09-21T14:13:20.000Z",
        duration_ms: 500,
        model: "gpt-5-mini",
        recorded: { rebuilt: true, otlp: { scope: "test", scope_version: "1", span: "a span" } }
      })
      const { text } = await fixture().client.get(`/api/v1/events/${events[0]!["event_id"]}/inputs`)
      expect(text).toContain(
        String.raw`"gen_ai.input.messages":[{"role":"user","parts":[{"type":"text","content":"Hello \u2713"}]}]`
      )
    })

    it.each(encodings)(
      "rejects the calls of a post in %s that cannot be stored, and no others",
      async (type, encode) => {
        const session = `otlp-partly-${type}`
        const unnamed = { ...callOf(session), spanId: "0".repeat(16) }
        const answer = await send(encode(OtlpPosts.traces([unnamed, callOf(session)])), type)
        expect(answer.status).toBe(200)
        expect(answer.text).toContain("1 have no trace or no span")
        if (type === "application/json") expect(answer.body.partialSuccess.rejectedSpans).toBe("1")
        expect(await eventsOf(session)).toHaveLength(1)
      }
    )

    it("keeps nothing of a post that cannot be decoded", { tags: ["adapter"] }, async () => {
      const whole = JSON.stringify(OtlpPosts.traces([callOf("otlp-cut")]))
      const cut = await send(Buffer.from(whole.slice(0, -1)), "application/json")
      expect(cut.status).toBe(400)
      const binary = OtlpPosts.toProtobuf(OtlpPosts.traces([callOf("otlp-cut")]))
      const answer = await send(binary.subarray(0, -1), "application/x-protobuf")
      expect(answer.status).toBe(400)
      expect(answer.headers.get("content-type")).toBe("application/x-protobuf")
      expect(await eventsOf("otlp-cut")).toEqual([])
    })

    it("says in one line why a post cannot be decoded", async () => {
      const answer = await send(Buffer.from('{"resourceSpans":['), "application/json")
      expect(answer.body).toEqual({ code: 3, message: "The post is no JSON: see byte 18" })
    })

    it("refuses what cannot be decompressed, and posts of another kind", { tags: ["adapter"] }, async () => {
      const broken = await send(Buffer.from("no gzip"), "application/x-protobuf", { "content-encoding": "gzip" })
      expect(broken.status).toBe(400)
      const logs = await send(Buffer.from(`{"resourceLogs":[]}`), "application/json")
      expect(logs.body).toEqual({ code: 3, message: "The post has resourceLogs, which are sent to /otlp/v1/logs" })
      const spans = OtlpPosts.toProtobuf(OtlpPosts.traces([callOf("otlp-elsewhere")]))
      const elsewhere = await send(spans, "application/x-protobuf", {}, "/otlp/v1/logs")
      expect(elsewhere.status).toBe(400)
      // A log record: its time, and a text.
      const record = Buffer.from("0a131211120f0901000000000000002a040a026869", "hex")
      const binaryLogs = await send(record, "application/x-protobuf")
      expect(binaryLogs.text).toContain("The post has resourceLogs, which are sent to /otlp/v1/logs")
      expect(elsewhere.text).toContain("The post has resourceSpans, which are sent to /otlp/v1/traces")
    })

    it("takes posts of metrics, and refuses other types", { tags: ["adapter"] }, async () => {
      expect((await send(Buffer.from("{}"), "application/json", {}, "/otlp/v1/metrics")).status).toBe(200)
      expect((await send(Buffer.from("{}"), "text/plain")).status).toBe(415)
    })

    it("needs the scope record", { tags: ["adapter"] }, async () => {
      const { key } = await fixture().issue({ scopes: ["read"] })
      const answer = await fixture()
        .as(key)
        .call("POST", path, Buffer.from("{}"), { "content-type": "application/json" })
      expect(answer.status).toBe(403)
    })

    it("finishes what waits before it erases", async () => {
      const { spanId: parentSpanId, traceId, ...call } = callOf("otlp-erased")
      const agent = {
        traceId,
        spanId: parentSpanId,
        attributes: { "gen_ai.operation.name": "invoke_agent", "session.id": "otlp-erased" }
      }
      const { "gen_ai.conversation.id": _, ...attributes } = call.attributes
      const child = { ...callOf(""), traceId, parentSpanId, attributes }
      const post = (spans: ReadonlyArray<OtlpPosts.ShortSpan>) =>
        send(Buffer.from(JSON.stringify(OtlpPosts.traces(spans))), "application/json")
      expect((await post([child])).status).toBe(200)
      expect((await post([{ ...agent, parentSpanId: "00f067aa0ba902b7" }])).status).toBe(200)
      const erased = await fixture().client.call("DELETE", "/api/v1/sessions/otlp-erased")
      expect(erased.body).toMatchObject({ events: 1 })
      expect(await eventsOf("otlp-erased")).toEqual([])
    })
  })
}
