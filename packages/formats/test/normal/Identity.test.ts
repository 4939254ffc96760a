import { describe, expect, it } from "vitest"
import type { Part } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"

describe("the identity of a message", () => {
  const call = { type: "tool_call", id: "call_1", name: "look", arguments: { b: 1, a: 2 } }

  it("does not depend on what transports it", () => {
    const sent = { role: "assistant", parts: [{ type: "text", content: "Hello" }, call] }
    const answered = {
      finish_reason: "stop",
      parts: [
        { type: "reasoning", content: "Hm", item_id: "rs_1" },
        {
          content: "Hello",
          type: "text",
          item_id: "msg_1",
          status: "completed",
          annotations: [{ type: "url_citation" }]
        },
        { ...call, arguments: { a: 2, b: 1 }, item_id: "fc_1" }
      ],
      role: "assistant",
      id: "msg_1"
    }
    expect(identity(answered)).toBe(identity(sent))
  })

  it("depends on role, name, text, and the id of a call", () => {
    const messages = [
      { role: "user", parts: [{ type: "text", content: "Hello" }] },
      { role: "assistant", parts: [{ type: "text", content: "Hello" }] },
      { role: "user", name: "Ann", parts: [{ type: "text", content: "Hello" }] },
      { role: "user", parts: [{ type: "text", content: "Hello" }, call] },
      {
        role: "user",
        parts: [
          { type: "text", content: "Hello" },
          { ...call, id: "call_2" }
        ]
      },
      { role: "user", parts: [{ type: "reasoning", content: "Hello" }] },
      { role: "user", parts: [] }
    ]
    expect(new Set(messages.map(identity)).size).toBe(messages.length)
  })

  it("does not depend on the alphabet of base64, nor on texts that hold marks only", () => {
    const blob = (content: string) => ({ type: "blob", mime_type: "image/png", content })
    const text = { type: "text", content: "a-b_c" }
    const signature = { type: "text", thoughtSignature: "QQ==" }
    const of = (...parts: ReadonlyArray<Part>) => identity({ role: "assistant", parts })
    expect(of(blob("-_8="), text)).toBe(of(blob("+/8="), text, signature))
    expect(of({ type: "reasoning", content: "Hm" }, signature)).toBe(of({ type: "reasoning", content: "Hm" }))
    expect(of(text)).not.toBe(of({ ...text, content: "a+b/c" }))
    expect(of({ type: "text", citation: 1 })).not.toBe(of())
  })

  it("takes parts of any depth", () => {
    const value = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`)
    expect(identity({ role: "user", parts: [{ type: "x", value }] })).toContain('"type":"x"')
  })
})
