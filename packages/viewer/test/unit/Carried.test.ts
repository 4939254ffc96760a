import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { carriedOf } from "../../app/pages/session/Carried.ts"
import { threadsOf } from "../../app/pages/session/Threads.ts"
import type { Call } from "../../app/server/Types.ts"

interface Made {
  readonly parent: number | undefined
  readonly kept: number
  readonly runs: ReadonlyArray<readonly [number, number]>
  readonly output: ReadonlyArray<number>
}

const toCall = ({ kept, output, parent, runs }: Made, index: number) =>
  ({
    event_id: String(index),
    parent_event_id: parent === undefined ? null : String(parent),
    carried: { kept, runs },
    output
  }) as unknown as Call

/** What each call sent, written out. */
const inputsOf = (made: ReadonlyArray<Made>): ReadonlyArray<ReadonlyArray<number>> => {
  const conversations: Array<ReadonlyArray<number>> = []
  return made.map(({ kept, output, parent, runs }) => {
    const before = parent === undefined ? [] : conversations[parent]!.slice(0, kept)
    const after = runs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index))
    const input = [...before, ...after]
    conversations.push([...input, ...output])
    return input
  })
}

const calls = fc
  .array(
    fc.record({
      parent: fc.option(fc.nat(20), { nil: undefined }),
      kept: fc.nat(10),
      run: fc.tuple(fc.integer({ min: 1, max: 8 }), fc.nat(3)),
      output: fc.integer({ min: 20, max: 25 })
    }),
    { minLength: 1, maxLength: 12 }
  )
  .map((all) => {
    const lengths: Array<number> = []
    return all.map(({ kept, output, parent, run: [first, length] }, index): Made => {
      const known = parent === undefined || index === 0 ? undefined : parent % index
      const keeps = known === undefined ? 0 : Math.min(kept, lengths[known]!)
      lengths.push(keeps + length + 2)
      return { parent: known, kept: keeps, runs: [[first, first + length]], output: [output] }
    })
  })

describe("carriedOf", () => {
  it("counts the calls that sent each message, and finds the last, as looking at them one by one does", () => {
    fc.assert(
      fc.property(calls, (made) => {
        const counts = new Map<number, { readonly times: number; readonly last: number }>()
        for (const [index, input] of inputsOf(made).entries()) {
          for (const message of input) {
            counts.set(message, { times: (counts.get(message)?.times ?? 0) + 1, last: index + 1 })
          }
        }
        const carried = carriedOf(made.map(toCall))
        for (const [message, count] of carried) expect(count).toEqual(counts.get(message) ?? { times: 0, last: 0 })
        for (const [message, count] of counts) expect(carried.get(message)).toEqual(count)
      })
    )
  })
})

describe("threadsOf", () => {
  it("gathers the calls that continue one another, where two agents take turns", () => {
    const made = [undefined, undefined, 0, 1, 2, 3].map((parent): Made => ({ parent, kept: 0, runs: [], output: [] }))
    const threads = threadsOf(made.map(toCall)).map(({ calls, number }) => [
      number,
      calls.map(({ event_id }) => event_id)
    ])
    expect(threads).toEqual([
      [1, ["0", "2", "4"]],
      [2, ["1", "3", "5"]]
    ])
  })
})
