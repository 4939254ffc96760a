import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { compare, type Compared, countsOf, type Said, withoutInstructions } from "../../src/normal/Comparison.ts"

const text = (content: string) => ({ type: "text", content })
const says = (role: string, ...parts: ReadonlyArray<{ readonly type: string }>): Said => ({ role, parts })
const user = (content: string) => says("user", text(content))
const assistant = (content: string) => says("assistant", text(content))

/** Such as `=2 user|user <assistant`. */
const shape = (rows: ReadonlyArray<Compared<Said>>): string =>
  rows
    .map((row) => {
      switch (row.kind) {
        case "equal":
          return `=${row.before.length}`
        case "different":
          return `${row.before.role}|${row.after.role}`
        case "only-before":
          return `<${row.before.role}`
        case "only-after":
          return `>${row.after.role}`
      }
    })
    .join(" ")

const beforeOf = (rows: ReadonlyArray<Compared<Said>>) =>
  rows.flatMap((row) => (row.kind === "only-after" ? [] : row.before))
const afterOf = (rows: ReadonlyArray<Compared<Said>>) =>
  rows.flatMap((row) => (row.kind === "only-before" ? [] : row.after))

describe("two conversations", () => {
  it("have what is equal in one row, what differs side by side, and what only one has alone", () => {
    const before = [user("a"), assistant("b"), user("c"), assistant("d"), user("e")]
    const after = [user("a"), assistant("b"), user("other"), assistant("d"), says("tool", text("x")), user("e")]
    const rows = compare(before, after)
    expect(shape(rows)).toBe("=2 user|user =1 >tool =1")
    expect(countsOf(rows)).toEqual({ equal: 4, different: 1, "only-before": 0, "only-after": 1 })
    expect(shape(compare(after, before))).toBe("=2 user|user =1 <tool =1")
  })

  it("pair messages of the same role only", () => {
    const before = [user("a"), says("tool", text("b")), assistant("c")]
    expect(shape(compare(before, [user("x"), assistant("y")]))).toBe("user|user <tool assistant|assistant")
    expect(shape(compare([user("a")], [assistant("a")]))).toBe("<user >assistant")
    expect(shape(compare([], before))).toBe(">user >tool >assistant")
    expect(shape(compare([], []))).toBe("")
  })

  it("say the same whatever the ids of tool calls are, and not with other arguments", () => {
    const call = (id: string, q: string) => [
      says("assistant", { type: "tool_call", id, name: "search", arguments: { q } } as { readonly type: string }),
      says("tool", { type: "tool_call_response", id, response: "found" } as { readonly type: string })
    ]
    expect(shape(compare(call("c1", "x"), call("c2", "x")))).toBe("=2")
    expect(shape(compare(call("c1", "x"), call("c1", "y")))).toBe("assistant|assistant =1")
  })

  it("do not take two damaged messages for the same", () => {
    const damaged = { role: "user", parts: [], is_damaged: true } as const
    expect(shape(compare([damaged], [{ ...damaged }]))).toBe("user|user")
  })

  it("are compared without the instructions that begin them", () => {
    const later = says("system", text("later"))
    expect(withoutInstructions([says("system", text("s")), says("developer"), user("a"), later])).toEqual([
      user("a"),
      later
    ])
  })

  it("keep all messages in their order", () => {
    const message = fc.constantFrom(user("a"), user("b"), assistant("a"), assistant("b"), says("tool", text("a")))
    const messages = fc.array(
      message.map((each) => ({ ...each })),
      { maxLength: 40 }
    )
    fc.assert(
      fc.property(messages, messages, (before, after) => {
        const rows = compare(before, after)
        expect(beforeOf(rows)).toEqual(before)
        expect(afterOf(rows)).toEqual(after)
        expect(shape(compare(before, before))).toBe(before.length === 0 ? "" : `=${before.length}`)
      })
    )
  })

  it("have no row of equal messages that differ, however often they recur, and all of them are counted", () => {
    const message = fc.constantFrom(user("a"), user("b"), assistant("ok"), assistant("no"))
    const messages = fc.array(
      message.map((each) => ({ ...each })),
      { size: "large", maxLength: 300 }
    )
    fc.assert(
      fc.property(messages, messages, (before, after) => {
        const rows = compare(before, after)
        for (const row of rows) if (row.kind === "different") expect(row.before).not.toEqual(row.after)
        const counts = countsOf(rows)
        expect(counts.equal + counts.different + counts["only-before"]).toBe(before.length)
        expect(counts.equal + counts.different + counts["only-after"]).toBe(after.length)
        expect(shape(compare(before, [...before]))).toBe(before.length === 0 ? "" : `=${before.length}`)
      })
    )
  })

  it("have the answers that are always the same in common, where all questions differ", () => {
    const steps = (what: string) =>
      Array.from({ length: 100 }, (_, at) => (at % 2 === 1 ? assistant("ok") : user(`${what} ${at}`)))
    const rows = compare(steps("do step"), steps("do it"))
    expect(countsOf(rows)).toEqual({ equal: 50, different: 50, "only-before": 0, "only-after": 0 })
  })

  it("are equal where the alignment, of too many messages, leaves gaps", () => {
    const same = (what: string) =>
      Array.from({ length: 13_000 }, (_, at) => (at % 2 === 1 ? assistant("ok") : user(`${what} ${at}`)))
    const { equal, different } = countsOf(compare(same("do step"), same("do it")))
    expect([equal, different]).toEqual([6_500, 6_500])
  })

  it("of 10,000 messages each, all of which recur, are compared", () => {
    const long = (offset: number) => Array.from({ length: 10_000 }, (_, at) => user(`${(at * 7 + offset) % 50}`))
    const { equal, different } = countsOf(compare(long(0), long(1)))
    expect(equal + different).toBeGreaterThan(9_000)
  })
})
