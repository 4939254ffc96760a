import * as Endings from "@tachograph/capture/Endings"
import type { Api } from "@tachograph/formats"
import { links } from "@tachograph/formats/Links"
import { describe, expect, it } from "vitest"

const asked = { api: "provider1-responses", id: "resp_1" } as const

describe("a request for the answer of a call that was made before", () => {
  it.each([
    ["GET", "https://api.openai.com/v1/responses/resp_1?stream=true&starting_after=4", "provider1-responses", "resp_1"],
    ["GET", "/openai/v1/responses/resp_1/", "provider1-responses", "resp_1"],
    ["POST", "/v1/responses/resp_1/cancel", "provider1-responses", "resp_1"],
    ["GET", "/v1beta/interactions/v1_a%3D", "provider3-interactions", "v1_a="],
    ["POST", "/v1beta/interactions/a:cancel", "provider3-interactions", "a"],
    ["GET", "/v1/chat/deferred-completion/d", "provider1-chat-completions", "d"]
  ])("is told by its path: %s %s", (method, url, api, id) => {
    expect(Endings.askedOf(method, url)).toEqual({ api, id })
  })

  it.each([
    ["POST", "/v1/responses/resp_1"],
    ["POST", "/v1/responses/compact"],
    ["DELETE", "/v1/responses/resp_1"],
    ["GET", "/v1/responses"],
    ["GET", "/v1/responses/resp_1/input_items"],
    ["GET", `/v1/responses/${"a".repeat(201)}`],
    ["GET", "/v1/responses/a%20b"],
    ["GET", "/v1/chat/completions/c"],
    ["GET", "https://responses/resp_1"]
  ])("is none: %s %s", (method, url) => {
    expect(Endings.askedOf(method, url)).toBeNull()
  })

  it("continues the call that it asks for, where no more of that is known", () => {
    const inputs: unknown = JSON.parse(Endings.inputsOf(asked))
    expect(links("provider1-responses", inputs, { id: "resp_1" })).toMatchObject({
      previous: "resp_1",
      answer: "resp_1"
    })
    const other = { api: "provider3-interactions", id: "i" } as const
    expect(links("provider3-interactions", JSON.parse(Endings.inputsOf(other)), {})).toMatchObject({ previous: "i" })
  })
})

describe("what has begun", () => {
  const laterIn = (output: object, inputs: object = {}, api: Api = asked.api) => {
    const text = JSON.stringify(output)
    const [later, ofBytes] = [text, Buffer.from(text)].map((of) => Endings.laterIn(api, inputs, of))
    expect(ofBytes).toEqual(later)
    return later && [later.asked.id, later.seed !== null, later.hasEnded]
  }

  it("is a response without its end, or one that was made in the background", () => {
    const response = { id: "r", status: "completed" }
    expect(laterIn(response)).toBeNull()
    expect(laterIn({ ...response, background: false })).toBeNull()
    expect(laterIn({ ...response, background: true })).toEqual(["r", true, true])
    expect(laterIn({ ...response, status: "queued" })).toEqual(["r", false, false])
    expect(laterIn({ ...response, status: "in_progress" }, { background: true })).toEqual(["r", true, false])
    expect(laterIn({ ...response, status: "cancelled" }, { background: true })).toEqual(["r", true, true])
    expect(laterIn({ ...response, id: null }, { background: true })).toBeNull()
    expect(laterIn({ ...response, background: true }, {}, "provider2-messages")).toBeNull()
    expect(laterIn({ ...response, agent: "a" }, { agent: "a" }, "provider3-interactions")).toEqual(["r", true, true])
  })

  it("is a completion only where it was asked to be deferred", () => {
    const api = "provider1-chat-completions"
    expect(laterIn({ request_id: "d" }, { deferred: true }, api)).toEqual(["d", true, false])
    expect(laterIn({ request_id: "d" }, {}, api)).toBeNull()
  })

  it("has the session of its conversation, where the provider keeps that", () => {
    expect(Endings.seedOf(asked, { conversation: { id: "conv" } })).toBe('["conversation","conv"]')
    expect(Endings.seedOf(asked, {})).toContain("resp_1")
  })

  it("is remembered up to a number, the latest of them, and with inputs that are not too long", () => {
    const calls = new Endings.BegunCalls<{ readonly inputs: string }>()
    const idOf = (n: number) => ({ ...asked, id: `r${n}` })
    for (let n = 0; n <= Endings.maxBegun; n++) calls.add("p", idOf(n), { inputs: `{"n":${n}}` })
    expect(calls.find("p", idOf(0))).toBeUndefined()
    expect(calls.find("other", idOf(1))).toBeUndefined()
    expect(calls.find("p", idOf(1))).toEqual({ call: { inputs: '{"n":1}' }, isEnded: false })
    calls.end("p", idOf(1))
    expect(calls.find("p", idOf(1))?.isEnded).toBe(true)
    const long = "x".repeat(Endings.maxBegunCharacters / 8)
    for (const [id, inputs] of [
      ["long", long],
      ["longer", `${long}x`]
    ] as const)
      calls.add("p", { ...asked, id }, { inputs })
    const kept = ["long", "longer"].map((id) => calls.find("p", { ...asked, id })?.call.inputs)
    expect(kept).toEqual([long, '{"response_id":"longer"}'])
    for (let n = 0; n < 8; n++) calls.add("q", idOf(n), { inputs: long })
    expect(calls.find("p", { ...asked, id: "long" })).toBeUndefined()
  })
})
