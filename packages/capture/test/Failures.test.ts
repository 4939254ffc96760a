import { formats, type WireApi } from "@tachograph/formats"
import { errorOf } from "@tachograph/formats/facts/Errors"
import { wireFormats } from "@tachograph/formats/WireFormats"
import { describe, expect, it } from "vitest"
import { failureOf, failureOfBody, isBroken, outputOf, withFailure } from "../src/Failures.ts"

describe("a failure", () => {
  it.each(["aborted", "timeout", "connection_error", "cancelled", "unread", "exit", "cut"] as const)(
    "says %s",
    (type) => {
      expect(failureOf(type)).toEqual({ error: { type, message: expect.stringMatching(/^The .*\.$/) } })
      expect(errorOf(failureOf(type))).toEqual({ type, code: null, status: null })
    }
  )

  it("holds what came, and the words of an error", () => {
    expect(failureOf("cut", "half an ans")).toMatchObject({ error: { type: "cut", body: "half an ans" } })
    expect(failureOf("connection_error", "", "refused").error.message).toBe("refused")
  })

  it("breaks a whole answer, unless it is the application's own doing", () => {
    const breaking = ["timeout", "connection_error", "exit", "cut"] as const
    expect(breaking.every(isBroken)).toBe(true)
    expect([undefined, "aborted", "cancelled", "unread"].some((type) => isBroken(type as undefined))).toBe(false)
  })

  it("of a body that is no JSON has its status", () => {
    expect(failureOfBody(502, "").error).toMatchObject({ type: "http_502", body: "" })
    expect(failureOfBody(502, "<html>").error.body).toBe("<html>")
  })
})

describe("the output of a stream", () => {
  const cut = failureOf("cut")

  it("has the failure where it was cut", () => {
    const output = { id: "1" }
    expect(JSON.parse(outputOf({ output, text: null, ended: "cut" }, cut))).toEqual({ ...output, ...cut })
    expect(JSON.parse(outputOf({ output: {}, text: null, ended: "cut" }, cut))).toEqual(cut)
    const exact = outputOf({ output: { n: 2 ** 53 }, text: '{"n":9007199254740993} ', ended: "cut" }, cut)
    expect(exact).toBe(`{"n":9007199254740993,${JSON.stringify(cut).slice(1)}`)
  })

  it("has the failure in place of an error without content, behind one that the text has", () => {
    const output = { error: null, id: "1" }
    expect(outputOf({ output, text: null, ended: "cut" }, cut)).toBe(`{"id":"1",${JSON.stringify(cut).slice(1)}`)
    const text = '{"error":null,"id":"1"}\n'
    expect(withFailure(text, output, cut)).toBe(`{"error":null,"id":"1",${JSON.stringify(cut).slice(1)}`)
    expect(errorOf(JSON.parse(withFailure(text, output, cut)))).toEqual({ type: "cut", code: null, status: null })
  })

  it("has none where it came to its end, or has an error", () => {
    expect(outputOf({ output: { id: "1" }, text: null, ended: "done" }, cut)).toBe('{"id":"1"}')
    expect(outputOf({ output: { error: "e" }, text: null, ended: "cut" }, cut)).toBe('{"error":"e"}')
  })
})

const begun: ReadonlyArray<readonly [WireApi, object]> = [
  [
    "provider1-chat-completions",
    { id: "1", error: null, choices: [{ index: 0, error: null, delta: { content: "a" } }] }
  ],
  [
    "provider1-responses",
    { type: "response.created", response: { object: "response", status: "in_progress", error: null } }
  ],
  ["provider2-messages", { type: "message_start", error: null, message: { id: "1", error: null, content: [] } }],
  ["provider3-models", { error: null, candidates: [{ content: { parts: [{ text: "a" }] } }] }],
  [
    "provider3-interactions",
    { event_type: "interaction.created", interaction: { id: "1", status: "in_progress", error: null } }
  ]
]

describe.each(begun)("a null error in %s", (api, payload) => {
  it("is none, so that a stream that was cut has its failure", () => {
    const stream = wireFormats[api].accumulator()
    stream.push(new TextEncoder().encode(`data: ${JSON.stringify(payload)}\n\n`))
    const accumulated = stream.end()
    expect(accumulated.ended).toBe("cut")
    const output = JSON.parse(outputOf(accumulated, failureOf("connection_error"))) as unknown
    expect(errorOf(output)?.type).toBe("connection_error")
    expect(formats[api].facts({}, output).error_type).toBe("connection_error")
  })
})
