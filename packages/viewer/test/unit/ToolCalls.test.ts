import { describe, expect, it } from "vitest"
import { toolCallsOf } from "../../app/pages/session/ToolCalls.ts"
import type { Call, Message, Step } from "../../app/server/Types.ts"

type Asked = readonly [name: string, id?: string, args?: object]

const at = (ms: number): string => new Date(ms).toISOString()

const ids = (fields: object) => fields as { readonly [name: string]: unknown }

/** Calls that begin at these milliseconds, each of which asks for tools. */
const calls = (...begun: ReadonlyArray<readonly [ms: number, trace: string, ...asked: ReadonlyArray<Asked>]>) => ({
  calls: begun.map(([ms, trace_id], index) => ids({ event_id: String(index), trace_id, occurred_at: at(ms) })) as never,
  messages: begun.map(([, , ...asked], index) => ({
    event_id: String(index),
    from: "output",
    parts: asked.map(([name, id, args]) => ({ type: "tool_call", name, ...(id && { id }), arguments: args ?? {} }))
  })) as never
})

const tool = (name: string, ms: number, trace_id: string, attributes: object = {}) =>
  ({ kind: "tool", name, occurred_at: at(ms), trace_id, attributes }) as unknown as Step

const byId = (id: string) => ({ "gen_ai.tool.call.id": id })

/** The names of the steps, call by call. */
const matched = (
  { calls, messages }: { readonly calls: ReadonlyArray<Call>; readonly messages: ReadonlyArray<Message> },
  steps: ReadonlyArray<Step>
) => {
  const found = toolCallsOf(calls, messages, steps)
  return messages.map(({ parts }) => parts.map((part) => found.get(part)?.occurred_at.slice(20, 23) ?? null))
}

describe("toolCallsOf", () => {
  it("matches by the id, in whatever trace the tool ran", () => {
    expect(
      matched(calls([0, "a", ["read", "1"], ["read", "2"]]), [
        tool("read", 5, "a", byId("2")),
        tool("other", 6, "b", byId("1"))
      ])
    ).toEqual([["006", "005"]])
  })

  it("matches ids that come again by the trace, and in it by the order", () => {
    const again = calls([0, "a", ["read", "1"]], [10, "b", ["read", "1"]], [20, "b", ["read", "1"]])
    const steps = [tool("read", 5, "a", byId("1")), tool("read", 15, "b", byId("1")), tool("read", 25, "b", byId("1"))]
    expect(matched(again, steps)).toEqual([["005"], ["015"], ["025"]])
    expect(matched(again, [tool("read", 25, "b", byId("1"))])).toEqual([[null], [null], ["025"]])
    expect(matched(again, [tool("read", 15, "c", byId("1"))])).toEqual([[null], [null], [null]])
  })

  it("matches without ids by name, between two calls of the trace", () => {
    const asked = calls([0, "a", ["read"], ["list"]], [10, "a", ["read"]], [20, "b", ["read"]])
    expect(
      matched(asked, [tool("list", 5, "a"), tool("read", 6, "a"), tool("read", 15, "a"), tool("read", 25, "c")])
    ).toEqual([["006", "005"], ["015"], [null]])
  })

  it("matches tools of one name by their arguments, else by order where there are as many", () => {
    const told = (args: object) => ({ "input.value": JSON.stringify(args) })
    const two = calls([0, "a", ["read", "1", { of: 1, at: 2 }], ["read", "2", { of: 2 }]])
    expect(matched(two, [tool("read", 5, "a", told({ of: 2 })), tool("read", 6, "a", told({ at: 2, of: 1 }))])).toEqual(
      [["006", "005"]]
    )
    expect(matched(two, [tool("read", 5, "a"), tool("read", 6, "a", { "input.value": "2" })])).toEqual([["005", "006"]])
    expect(matched(two, [tool("read", 5, "a")])).toEqual([[null, null]])
    expect(matched(two, [tool("read", 5, "a", told({ of: 3 })), tool("read", 6, "a")])).toEqual([[null, null]])
  })
})
