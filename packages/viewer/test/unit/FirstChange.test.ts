import { describe, expect, it } from "vitest"
import { firstChangeOf } from "../../app/pages/session/FirstChange.ts"
import type { Call } from "../../app/server/Types.ts"
import { firstDifference } from "../../app/text/firstDifference.ts"

describe("firstDifference", () => {
  it.each([
    ["It is 10:00.", "It is 11:00.", 8],
    ["a", "ab", 2],
    ["ab", "a", 2],
    ["", "a", 1],
    ["😀a", "😀b", 2],
    ["a😀", "a😁", 2],
    ["same", "same", undefined]
  ])("of %j and %j", (before, after, at) => {
    expect(firstDifference(before, after)).toBe(at)
  })
})

describe("firstChangeOf", () => {
  const call = (event_id: string, parent: string | null, kept: number, runs: ReadonlyArray<unknown>, output: number) =>
    ({ event_id, parent_event_id: parent, carried: { kept, runs }, output: [output] }) as unknown as Call

  const of = (...calls: ReadonlyArray<Call>) =>
    firstChangeOf(calls.at(-1)!, new Map(calls.map((each) => [each.event_id, each])))

  const one = call("1", null, 0, [[1, 2]], 3)
  const two = call("2", "1", 3, [[4, 4]], 5)

  it("is the message that another one stands for, also of an earlier call", () => {
    expect(
      of(
        one,
        two,
        call(
          "3",
          "2",
          3,
          [
            [6, 6],
            [5, 5]
          ],
          8
        )
      )
    ).toEqual({ before: 4, after: 6 })
    expect(of(one, two, call("3", "2", 2, [[6, 9]], 10))).toEqual({ before: 3, after: 6 })
    expect(of(one, two, call("3", "2", 0, [[6, 7]], 8))).toEqual({ before: 1, after: 6 })
  })

  it("is none where all that was sent is sent again, the beginning of it, or another answer", () => {
    expect(of(one, two)).toBeUndefined()
    expect(of(one, two, call("3", "2", 2, [], 6))).toBeUndefined()
    expect(of(one, two, call("3", "2", 4, [[6, 7]], 8))).toBeUndefined()
  })

  it("is not known without the calls before", () => {
    expect(of(one)).toBeUndefined()
    expect(of(two, call("3", "2", 2, [[6, 9]], 10))).toBeUndefined()
  })
})
