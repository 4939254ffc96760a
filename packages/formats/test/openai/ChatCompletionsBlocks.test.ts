/** Blocks of content that come in pieces, whatever their types are. */
import { describe, expect, it } from "vitest"
import { ChatCompletions } from "../../src/openai/ChatCompletions.ts"
import { accumulator } from "../../src/openai/ChatCompletionsStream.ts"
import { deltas } from "../data/ChatCompletions.ts"
import { accumulate, toText } from "../Streams.ts"

const outputOf = (...all: ReadonlyArray<object>) => accumulate(accumulator, toText(deltas(...all))).output

const messageOf = (...all: ReadonlyArray<object>) =>
  (outputOf(...all)["choices"] as unknown as ReadonlyArray<{ readonly message: Record<string, unknown> }>)[0]!.message

const contentOf = (...blocks: ReadonlyArray<unknown>) =>
  messageOf(...blocks.map((block) => ({ content: [block] })))["content"]

const summary = (text: string, signature = "") => ({
  type: "reasoning",
  summary: [{ type: "summary_text", text, signature }]
})
const thinking = (said: string, fields: object = {}) => ({ type: "thinking", thinking: said, ...fields })

describe("neighbouring blocks", () => {
  it.each<[string, ReadonlyArray<unknown>, ReadonlyArray<unknown>]>([
    ["a list of texts", [summary("Let "), summary("me."), summary("", "SIG")], [summary("Let me.", "SIG")]],
    [
      "text of a type that is new",
      [
        { type: "musing", text: "a" },
        { type: "musing", text: "b" }
      ],
      [{ type: "musing", text: "ab" }]
    ],
    ["text without a type", [{ text: "a" }, { text: "b" }], [{ text: "ab" }]],
    [
      "text under the name of its type",
      [
        { type: "refusal", refusal: "a" },
        { type: "refusal", refusal: "b" }
      ],
      [{ type: "refusal", refusal: "ab" }]
    ],
    [
      "reasoning",
      [
        { type: "reasoning", reasoning: "a", index: 0 },
        { type: "reasoning", reasoning: "b", index: 0 }
      ],
      [{ type: "reasoning", reasoning: "ab", index: 0 }]
    ],
    [
      "thoughts and their signature",
      [thinking("a"), thinking("b"), thinking("", { signature: "S" })],
      [thinking("ab", { signature: "S" })]
    ]
  ])("are one: %s", (_, blocks, expected) => {
    expect(contentOf(...blocks)).toEqual(expected)
  })

  it.each<[string, ReadonlyArray<unknown>]>([
    [
      "of two indexes",
      [
        { type: "text", text: "a", index: 0 },
        { type: "text", text: "b", index: 1 }
      ]
    ],
    ["of which one is signed", [thinking("a", { signature: "S" }), thinking("b")]],
    ["of which one is signed within", [summary("a", "S"), summary("b")]],
    [
      "that say nothing, such as pictures",
      [
        { type: "image_url", image_url: { url: "a" } },
        { type: "image_url", image_url: { url: "b" } }
      ]
    ],
    [
      "that are encrypted",
      [
        { type: "redacted_thinking", data: "QQ==" },
        { type: "redacted_thinking", data: "Qg==" }
      ]
    ],
    ["of two types", [thinking("a"), { type: "text", text: "b" }]],
    [
      "of other references",
      [
        { type: "text", text: "a", citations: ["x"] },
        { type: "text", text: "b", citations: ["y"] }
      ]
    ]
  ])("are several: %s", (_, blocks) => {
    expect(contentOf(...blocks)).toEqual(blocks)
  })

  it("are joined in lists beside the content, whose notes are not", () => {
    const piece = (said: string, signature: string | null) => ({ thinking_blocks: [thinking(said, { signature })] })
    expect(messageOf(piece("a", null), piece("b", null), piece("", "S"), piece("c", null))["thinking_blocks"]).toEqual([
      thinking("ab", { signature: "S" }),
      thinking("c", { signature: null })
    ])
    const notes = [1, 2].map((at) => ({ type: "url_citation", text: "a", at }))
    expect(messageOf(...notes.map((note) => ({ annotations: [note] })))["annotations"]).toEqual(notes)
  })

  it("may be one block in place of a list, and texts", () => {
    expect(
      messageOf({ content: { type: "text", text: "a" } }, { content: ["b"] }, { content: "c" })["content"]
    ).toEqual([{ type: "text", text: "abc" }])
  })
})

describe("a block of reasoning", () => {
  const partsOf = (content: unknown) =>
    ChatCompletions.messages({}, { choices: [{ message: { role: "assistant", content } }] }).output[0]?.parts

  it("has its text as content, under whatever name", () => {
    const read = { type: "reasoning", content: "a" }
    for (const key of ["thinking", "reasoning", "text", "content", "summary"])
      for (const type of ["thinking", "reasoning", "reasoning_text"])
        expect(partsOf([{ type, [key]: "a" }])).toEqual([read])
    expect(
      partsOf([
        {
          type: "reasoning",
          summary: [
            { type: "summary_text", text: "a" },
            { type: "summary_text", text: "b" }
          ]
        }
      ])
    ).toEqual([{ type: "reasoning", content: "a\n\nb" }])
  })

  it("keeps what stands beside it", () => {
    expect(partsOf([summary("a", "S")])).toEqual([
      { type: "reasoning", content: "a", summary: summary("a", "S").summary }
    ])
    expect(partsOf([{ type: "reasoning", data: "AB" }])).toEqual([{ type: "reasoning", data: "AB" }])
  })
})
