import { describe, expect, it } from "vitest"
import type { Chain } from "../../src/payload/format/Chain.ts"
import * as Pack from "../../src/payload/format/Pack.ts"
import * as PackContent from "../../src/payload/format/PackContent.ts"
import { Sweep, type SweepPack } from "../../src/payload/Sweep.ts"
import { template, text } from "./Templates.ts"

interface Event {
  readonly inputs: Buffer
  readonly history?: ReadonlyArray<Buffer>
  readonly isKept?: boolean
}

/** The packs of a session with these events. */
const packsOf = (events: ReadonlyArray<Event>): ReadonlyArray<SweepPack> => {
  let history = 0
  let chain: Chain | undefined
  return events.map(({ history: pieces = [], inputs, isKept = true }, index) => {
    const counts = { before: { history, parts: 0 }, added: { history: pieces.length, parts: 0 } }
    const content = PackContent.write(counts, [inputs, text("{}"), ...pieces])
    const written = Pack.write(index + 1, content, [], chain)
    chain = written.chain
    history += pieces.length
    return { number: index + 1, bytes: written.bytes("quick"), isKept }
  })
}

/** Sweeps a session whose packs do not change between steps. Returns the operations of each step, and the sums. */
const sweepAll = (packs: ReadonlyArray<SweepPack>) => {
  const steps: Array<number> = []
  const changed = new Map<number, Buffer | undefined>()
  let pieces = 0
  let sweep = new Sweep()
  for (let isLast = false; !isLast;) {
    const next = new Sweep(sweep)
    const step = next.step(
      packs.filter(({ number }) => number <= sweep.next.to),
      true
    )
    steps.push(next.operations)
    for (const { bytes, number } of step.changes) changed.set(number, bytes)
    pieces += step.pieces
    isLast = step.isLast
    sweep = next
  }
  return { steps, changed, pieces, remaining: sweep.remaining }
}

const pieces = (count: number) => Array.from({ length: count }, (_, index) => text(`message ${index}`))

describe("Sweep", () => {
  it("does not expand the runs of events that repeat a conversation", () => {
    const conversation = 5_000
    const repeated = template((writer) => {
      for (let times = 0; times < 6; times++) {
        writer.literal(Buffer.from("again"))
        writer.history(1, conversation, Buffer.from(","))
      }
    })
    const first = { inputs: repeated, history: pieces(conversation) }
    const { pieces: erased, remaining, steps } = sweepAll(packsOf([first, ...Array(100).fill({ inputs: repeated })]))
    expect([erased, remaining]).toEqual([0, conversation])
    // One by one there would be 3 million.
    expect(steps.reduce((sum, operations) => sum + operations)).toBeLessThan(25_000)
  })

  it("takes several steps for packs with many pieces and references, and blanks what one step would", () => {
    const each = 30_000
    // Each event reaches the first half of its pieces, one by one and backwards.
    const packs = packsOf(
      Array.from({ length: 6 }, (_, event) => ({
        inputs: template((writer) => {
          for (let piece = each / 2; piece > 0; piece--) {
            writer.literal(Buffer.from(","))
            writer.history(event * each + piece)
          }
        }),
        history: pieces(each),
        isKept: event % 2 === 0
      }))
    )
    const { changed, pieces: erased, remaining, steps } = sweepAll(packs)
    expect(steps.length).toBeGreaterThan(2)
    for (const operations of steps) expect(operations).toBeLessThan(100_000 + 4 * each)
    expect(erased).toBe(3 * (each / 2) + 3 * each)
    expect(remaining).toBe(3 * (each / 2))
    expect(Array.from(changed).filter(([, bytes]) => bytes === undefined)).toHaveLength(3)
    expect(changed.size).toBe(6)
  })
})
