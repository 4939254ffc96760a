import { describe, expect, it } from "vitest"
import { type Api, formats } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { instructionsText, isInjected, quietInstructions, quietParameters } from "@tachograph/formats/normal/Noise"

const line = (nonce: string) =>
  `x-anthropic-billing-header: cc_version=2.1.177.${nonce}; cc_entrypoint=cli; cch=${nonce};`

const prompt = "You are a careful engineer.\nUse the tools."

const say = { role: "user", content: "fix it" }

/** Requests with the line as a block, as one text with what follows, and as gateways translate it. */
const requests: ReadonlyArray<readonly [api: Api, inputs: (nonce: string) => object]> = [
  [
    "provider2-messages",
    (nonce) => ({ system: [line(nonce), prompt].map((text) => ({ type: "text", text })), messages: [say] })
  ],
  ["provider2-beta-messages", (nonce) => ({ system: `${line(nonce)}\n${prompt}`, messages: [say] })],
  ["provider2-messages", (nonce) => ({ system: `${line(nonce)}${prompt}`, messages: [say] })],
  ["provider2-messages", (nonce) => ({ system: `Answer briefly.\n\n${line(nonce)}\n\n${prompt}`, messages: [say] })],
  ["provider1-responses", (nonce) => ({ instructions: `${line(nonce)}\n\n${prompt}`, input: "fix it" })],
  ["provider1-responses", (nonce) => ({ input: [{ role: "developer", content: `${line(nonce)}\n${prompt}` }, say] })],
  [
    "provider1-chat-completions",
    (nonce) => ({ messages: [{ role: "system", content: `${line(nonce)}\n${prompt}` }, say] })
  ],
  [
    "provider1-chat-completions",
    (nonce) => ({
      messages: [{ role: "system", content: [line(nonce), prompt].map((text) => ({ type: "text", text })) }, say]
    })
  ],
  [
    "provider3-models",
    (nonce) => ({
      systemInstruction: { parts: [{ text: line(nonce) }, { text: prompt }] },
      contents: [{ role: "user", parts: [{ text: "fix it" }] }]
    })
  ]
]

describe("the line of Claude Code with a nonce", () => {
  it.each(requests)("makes no other conversation: %s", (api, inputs) => {
    const said = (of: object) => {
      const { input, instructions } = formats[api].messages(of, null)
      return JSON.stringify([quietInstructions(instructions), input.map(identity)])
    }
    expect(said(inputs("36ee5"))).toBe(said(inputs("0aaa9")))
    expect(said(inputs("36ee5"))).toContain("careful engineer")
    const other = JSON.parse(JSON.stringify(inputs("36ee5")).replace("careful", "hasty"))
    expect(said(other)).not.toBe(said(inputs("36ee5")))
  })

  it.each(requests)("is not in the text of all instructions: %s", (api, inputs) => {
    const read = formats[api].messages(inputs("36ee5"), null)
    expect(instructionsText(read)).toMatch(/^(Answer briefly\.\n\n)?You are a careful engineer\.\nUse the tools\.$/)
  })

  it("makes no other message, unless somebody else than the application says it", () => {
    const of = (role: string, nonce: string) =>
      identity({ role, parts: [{ type: "text", content: `${line(nonce)}\nHello` }] })
    for (const role of ["system", "developer"]) expect(of(role, "36ee5")).toBe(of(role, "0aaa9"))
    for (const role of ["user", "assistant", "tool"]) expect(of(role, "36ee5")).not.toBe(of(role, "0aaa9"))
  })

  it("is shown as it was sent, and leaves all other instructions as they are", () => {
    const [api, inputs] = requests[0]!
    const { instructions } = formats[api].messages(inputs("36ee5"), null)
    expect(instructions[0]).toEqual({ type: "text", content: line("36ee5") })
    expect(quietInstructions(instructions)).toEqual([{ type: "text", content: prompt }])
    const others = [
      { type: "text", content: "Never send the header x-anthropic-billing-header: it is ours." },
      { type: "text", content: "x-anthropic-version: 2" },
      { type: "image", content: "x-anthropic-billing-header: a=b;" }
    ]
    expect(quietInstructions(others)).toEqual(others)
  })

  it("is left out of a text of any length in a time that grows with it", () => {
    const long = `x-anthropic-billing-header:${" a".repeat(200_000)}${"x-anthropic-billing-header:".repeat(20_000)}`
    expect(quietInstructions([{ type: "text", content: long }])).toHaveLength(1)
  })
})

describe("parameters without names", () => {
  it("are the same for each session, turn and person", () => {
    const codex = (id: string) => ({
      store: false,
      prompt_cache_key: id,
      client_metadata: { thread_id: id, turn_id: `${id}-1` }
    })
    expect(quietParameters(codex("1"))).toEqual({ store: false })
    const claudeCode = { max_tokens: 10, metadata: { user_id: `{"session_id":"1"}` } }
    expect(quietParameters(claudeCode)).toEqual({ max_tokens: 10 })
    expect(quietParameters({ user: "ann", safety_identifier: "a1", session_id: "s", temperature: 1 })).toEqual({
      temperature: 1
    })
  })

  it("keep what an application tags its calls with", () => {
    const parameters = { metadata: { stage: "test", user_id: "ann" }, top_p: 1 }
    expect(quietParameters(parameters)).toEqual({ metadata: { stage: "test" }, top_p: 1 })
    for (const metadata of ["text", [1], null, 5]) expect(quietParameters({ metadata })).toEqual({ metadata })
  })
})

describe("isInjected", () => {
  it.each([
    ["<system-reminder>\nToday is Sunday.\n</system-reminder>", true],
    ["Generate a title for this conversation:", true],
    ["Generate a title for this conversation: the harbour", false],
    ["# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>", true],
    ["# AGENTS.md instructions\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>", true],
    ["# AGENTS.md instructions for /work: what are <INSTRUCTIONS> there?", false],
    ["<b>Mind</b> the gap", false],
    ["Mind the gap", false]
  ])("tells a client's words from a user's: %j", (text, is) => {
    expect(isInjected(text)).toBe(is)
  })
})
