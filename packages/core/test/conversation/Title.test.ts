import { describe, expect, it } from "vitest"
import { titleOf } from "../../src/conversation/Title.ts"

describe("titleOf", () => {
  it.each([
    [
      "provider1-chat-completions",
      {
        messages: [
          { role: "system", content: "s" },
          { role: "user", content: "words" }
        ]
      }
    ],
    ["provider1-responses", { instructions: "s", input: "words" }],
    ["provider1-responses", { input: [{ role: "user", content: [{ type: "input_text", text: "words" }] }] }],
    ["provider2-messages", { system: "s", messages: [{ role: "user", content: [{ type: "text", text: "words" }] }] }],
    ["provider3-models", { contents: "words" }],
    ["provider3-models", { contents: [{ role: "user", parts: [{ text: "words" }] }] }],
    ["provider3-interactions", { input: [{ type: "user_input", content: [{ type: "text", text: "words" }] }] }],
    ["aisdk", { system: "s", prompt: "words" }],
    ["aisdk", { "ai.prompt.messages": JSON.stringify([{ role: "user", content: "words" }]) }]
  ] as const)("reads %s", (api, inputs) => {
    expect(titleOf(api, inputs)).toBe("words")
  })

  it("is the first message of a user that says something, in one line", () => {
    const messages = [
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
      { role: "user", content: " How far\n\n is\tit? " },
      { role: "user", content: "And back?" }
    ]
    expect(titleOf("provider1-chat-completions", { messages })).toBe("How far is it?")
  })

  it("has at most 200 characters, and cuts none in two", () => {
    const title = titleOf("provider1-chat-completions", { messages: [{ role: "user", content: "😀".repeat(300) }] })
    expect(title).toBe("😀".repeat(200))
  })

  it("skips injected context, unless there is nothing else", () => {
    const context = { type: "text", text: "<system-reminder a='b'>\nToday is\nMonday.\n</system-reminder>" }
    const words = { type: "text", text: "<b>bold</b> words" }
    const titleFor = (...content: ReadonlyArray<object>) =>
      titleOf("provider2-messages", { messages: [{ role: "user", content }] })
    expect(titleFor(context, words)).toBe("<b>bold</b> words")
    expect(titleFor(context)).toBe("<system-reminder a='b'> Today is Monday. </system-reminder>")
    expect(titleFor({ type: "text", text: "Generate a title for this conversation:\n" }, words)).toBe(
      "<b>bold</b> words"
    )
  })

  it.each([
    [{}],
    [{ messages: [] }],
    [{ messages: [{ role: "assistant", content: "a" }] }],
    [{ messages: 5 }],
    [[]],
    ["x"]
  ])("is null for %j", (inputs) => {
    expect(titleOf("provider1-chat-completions", inputs)).toBe(null)
  })
})
