import { describe, expect, it } from "vitest"
import { errorOf } from "../src/Errors.ts"
import { failureOf, failureOfBody, outputOf } from "../src/Failures.ts"

describe("a failure", () => {
  it.each(["aborted", "timeout", "connection_error", "cancelled", "unread", "exit", "cut"] as const)(
    "says %s",
    (type) => {
      expect(failureOf(type)).toEqual({ error: { type, message: expect.stringMatching(/^The .*\.$/) } })
      expect(errorOf(failureOf(type))).toEqual({ type, status: null })
    }
  )

  it("holds what came, and the words of an error", () => {
    expect(failureOf("cut", "half an ans")).toMatchObject({ error: { type: "cut", body: "half an ans" } })
    expect(failureOf("connection_error", "", "refused").error.message).toBe("refused")
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

  it("has none where it came to its end, or has an error", () => {
    expect(outputOf({ output: { id: "1" }, text: null, ended: "done" }, cut)).toBe('{"id":"1"}')
    expect(outputOf({ output: { error: "e" }, text: null, ended: "cut" }, cut)).toBe('{"error":"e"}')
  })
})
