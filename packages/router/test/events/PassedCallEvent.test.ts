import { Effect, Result } from "effect"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import type { PassedCall } from "../../src/calls/PassedCall.ts"
import { ReserveAnswer } from "../../src/Engine.ts"
import * as PassedCallEvent from "../../src/events/PassedCallEvent.ts"

const inputs = `{"messages":[],"pad":"${"a".repeat(50_000)}"}`
const output = `{"choices":[],"pad":"${"b".repeat(50_000)}"}`

const callOf = (request: Buffer, fields: Partial<PassedCall> = {}): PassedCall => ({
  kind: "call",
  method: "POST",
  fingerprintId: "a fingerprint",
  rest: "/chat/completions",
  beta: undefined,
  grouping: { session: "session" },
  credentials: [],
  suspects: [],
  requestBytes: request.length,
  isRequestWhole: true,
  requestEncoding: undefined,
  responseEncoding: undefined,
  contentType: "application/json",
  status: 200,
  interruption: undefined,
  failureCode: undefined,
  occurredAt: "2026-01-01T00:00:00.000Z",
  durationMs: 1,
  firstByteMs: 1,
  ...fields
})

/** `reserve` is told what the event takes beyond the copies. Texts from 32 KiB on are made in turns. */
const make = (
  fields: Partial<PassedCall>,
  maxBytes: number,
  reserve: (bytes: number) => boolean = () => true,
  bodies = { inputs, output }
) => {
  const pack = (text: string, encodings = "") =>
    encodings.split(", ").reduce((body, name) => (name === "gzip" ? gzipSync(body) : body), Buffer.from(text))
  const request = pack(bodies.inputs, fields.requestEncoding)
  const copies = Buffer.concat([request, pack(bodies.output, fields.responseEncoding)])
  const { bodyOf } = PassedCallEvent.make(32 * 1024)
  return bodyOf("project", callOf(request, fields), copies, maxBytes).pipe(
    Effect.provideService(ReserveAnswer, (bytes) => Effect.sync(() => reserve(bytes))),
    Effect.result,
    Effect.runPromise
  )
}

const lengthOf = (result: Awaited<ReturnType<typeof make>>) =>
  Result.isSuccess(result) && typeof result.success !== "string" ? result.success.body.length : undefined

const gzips = (count: number) => Array.from({ length: count }, () => "gzip").join(", ")

const gzipped = { requestEncoding: "gzip", responseEncoding: "gzip" }

describe("the event of a call that passed", () => {
  it("is none where the request has more credentials than can be looked for", async () => {
    const credentials = Array.from({ length: 10_000 }, (_, n) => `planted-key-${n}`)
    expect(await make({ credentials }, 200_000)).toMatchObject({ success: "too-many-credentials" })
    const alike = Array.from({ length: 60 }, (_, n) => `${"a".repeat(1_000)}${n}`)
    expect(await make({ credentials: alike }, 200_000)).toMatchObject({ success: "too-many-credentials" })
  })

  const eventOf = async (bodies: { readonly inputs: string; readonly output: string }, fields = {}) => {
    const made = await make(fields, 2_000_000, undefined, bodies)
    if (!Result.isSuccess(made) || typeof made.success === "string") throw new Error("no event")
    const text = made.success.body.toString()
    return { text, event: JSON.parse(text) }
  }

  it("has no credential of its bodies' places, wherever an answer repeats it, and says how many were masked", async () => {
    const server = `{"type":"mcp","authorization":"planted-one","headers":{"Authorization":"Bearer planted-two"}}`
    const inputs = `{ "input":[1.0],"tools":[${server}], "api_k\\u0065y" : "planted-three", "api_key":7}`
    const output = `{"output":[],"tools":[${server}],"error":"planted-two, planted-three or planted-five"}`
    const { event, text } = await eventOf({ inputs, output }, { rest: "/responses", credentials: ["planted-five"] })
    const left = `{"type":"mcp","authorization":"[redacted]","headers":{"Authorization":"[redacted]"}}`
    expect(text).toContain(
      `"inputs":{ "input":[1.0],"tools":[${left}], "api_k\\u0065y" : "[redacted]", "api_key":"[redacted]"}`
    )
    expect(text).toContain(`"output":{"output":[],"tools":[${left}],"error":"[redacted], [redacted] or [redacted]"}`)
    expect(event.recorded).toEqual({ redacted: 9 })
    const plain = await eventOf({ inputs: `{"input":"[redacted]"}`, output: "{}" }, { rest: "/responses" })
    expect(plain.event.recorded).toBeUndefined()
  })

  it("has none of its bodies' places either where there are more than are looked for, or the request broke off", async () => {
    const tools = Array.from({ length: 2_000 }, (_, n) => ({
      type: "mcp",
      authorization: `planted-${n}`.padEnd(64, "x")
    }))
    const many = await eventOf({ inputs: JSON.stringify({ input: "a", tools }), output: "{}" }, { rest: "/responses" })
    expect(many.text).not.toContain("planted")
    expect(many.event.recorded).toEqual({ redacted: 2_000 })
    const inputs = `{"input":"","api_key":"planted-ke`
    const cut = await eventOf({ inputs, output: "{}" }, { isRequestWhole: false, status: 413 })
    expect(cut.event.properties.inputs.error.body).toBe(`{"input":"","api_key":"[redacted]`)
  })

  it.each([
    ["plain", {}],
    ["compressed", gzipped]
  ])("is as long as an event may be, and no longer, where its bodies came %s", async (_name, fields) => {
    const length = lengthOf(await make(fields, 200_000))!
    expect(length).toBeGreaterThan(inputs.length + output.length)
    expect(lengthOf(await make(fields, length))).toBe(length)
    expect(await make(fields, length - 1)).toMatchObject({ failure: { _tag: "payload-too-large" } })
  })

  it("is counted for what it takes beyond its copies, once they are decompressed", async () => {
    const asked: Array<number> = []
    const length = lengthOf(await make(gzipped, 200_000, (bytes) => asked.push(bytes) > 0))!
    expect(asked).toEqual([length - gzipSync(inputs).length - gzipSync(output).length])
    expect(await make(gzipped, 200_000, () => false)).toMatchObject({ failure: { _tag: "overloaded" } })
    expect(lengthOf(await make({}, 200_000, () => false))).toBe(length)
  })

  it("is too long where a body unpacks to more than an event", async () => {
    expect(await make(gzipped, 40_000)).toMatchObject({ failure: { _tag: "payload-too-large" } })
  })

  it.each([
    ["an unknown encoding of its request", { requestEncoding: "lz", requestBytes: 10 }, 200_000, "undecodable"],
    ["more encodings of its request than are undone", { requestEncoding: gzips(4) }, 200_000, "undecodable"],
    ["a path of something else", { rest: "/files" }, 200_000, "no-call"]
  ])("is none with %s", async (_name, fields, maxBytes, made) => {
    expect(await make(fields, maxBytes)).toMatchObject({ success: made })
  })
})
