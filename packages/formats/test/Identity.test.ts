import { describe, expect, it } from "vitest"
import { identity } from "@tachograph/formats"

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

  it("takes parts of any depth", () => {
    const value = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`)
    expect(identity({ role: "user", parts: [{ type: "x", value }] })).toContain('"type":"x"')
  })
})
