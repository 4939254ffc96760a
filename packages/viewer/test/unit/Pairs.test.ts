import { describe, expect, it } from "vitest"
import { pairsIn } from "../../app/parts/message/Pairs.ts"
import { streamOf } from "../../app/pages/session/StreamItems.ts"
import type { Call, Message, Part } from "../../app/server/Types.ts"

const call = (fields: object): Part => ({ type: "tool_call", ...fields })
const answer = (response: string, fields: object): Part => ({ type: "tool_call_response", response, ...fields })
const asks = (...parts: ReadonlyArray<Part>) => ({ role: "assistant", parts })
const answers = (...parts: ReadonlyArray<Part>) => ({ role: "user", parts })

/** What each call was answered, in the order of the calls. */
const responsesOf = (messages: ReadonlyArray<{ readonly role: string; readonly parts: ReadonlyArray<Part> }>) => {
  const { results } = pairsIn(messages)
  return messages.flatMap(({ parts }) =>
    parts.filter(({ type }) => type === "tool_call").map((part) => results.get(part)?.part["response"])
  )
}

describe("pairsIn", () => {
  it("pairs by the id, in any order, and the latest call that waits where ids come again", () => {
    expect(
      responsesOf([
        asks(call({ id: "a" }), call({ id: "b" })),
        answers(answer("of b", { id: "b" }), answer("of a", { id: "a" })),
        asks(call({ id: "a" })),
        asks(call({ id: "c" })),
        answers(answer("of the second a", { id: "a" }))
      ])
    ).toEqual(["of a", "of b", "of the second a", undefined])
  })

  it("pairs by name and order where there are no ids", () => {
    expect(
      responsesOf([
        asks(call({ name: "read" }), call({ name: "list" }), call({ name: "read" })),
        answers(answer("1", { name: "read" }), answer("2", { name: "read" }), answer("3", { name: "list" })),
        asks(call({ name: "read" })),
        answers(answer("4", { name: "read" }))
      ])
    ).toEqual(["1", "3", "2", "4"])
  })

  it("pairs a call without an id with an answer whose id the client made up", () => {
    expect(
      responsesOf([
        asks(call({ name: "read" }), call({ name: "read" })),
        answers(answer("1", { name: "read", client_call_id: "call-1" })),
        answers(answer("2", { name: "read", client_call_id: "call-2" })),
        asks(call({ name: "read", client_call_id: "call-3" }), call({ name: "read", client_call_id: "call-4" })),
        answers(answer("4", { name: "read", client_call_id: "call-4" })),
        answers(answer("3", { name: "read", client_call_id: "call-3" }))
      ])
    ).toEqual(["1", "2", "3", "4"])
  })

  it("gives a call that is not answered no answer of a later one", () => {
    expect(
      responsesOf([
        asks(call({ name: "read" })),
        answers({ type: "text", content: "Never mind" }),
        asks(call({ name: "read" })),
        answers(answer("later", { name: "read" })),
        answers(answer("of none", {}), answer("of none", { id: 7 }))
      ])
    ).toEqual([undefined, "later"])
  })
})

describe("streamOf", () => {
  it("pairs along the parents where two threads use the same ids", () => {
    const messages: Array<Message> = []
    const add = (event_id: string, message: object) =>
      messages.push({ number: messages.length + 1, event_id, at: "", from: "input", ...message } as unknown as Message)
    const calls = (["one", "other"] as const).map((id) => {
      const number = add(id, asks(call({ id: "call_0", name: id })))
      return { event_id: id, parent_event_id: null, new_messages: [], output: [number], gone_messages: [] }
    })
    const next = (["one", "other"] as const).map((id) => {
      const number = add(`${id} 2`, answers(answer(`of ${id}`, { id: "call_0" })))
      return { event_id: `${id} 2`, parent_event_id: id, new_messages: [number], output: [], gone_messages: [] }
    })
    const { results } = streamOf([...calls, ...next] as unknown as ReadonlyArray<Call>, messages, undefined)
    const responses = messages.slice(0, 2).map(({ parts }) => results.get(parts[0]!)?.part["response"])
    expect(responses).toEqual(["of one", "of other"])
  })
})
