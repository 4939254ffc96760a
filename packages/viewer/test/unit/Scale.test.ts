import { describe, expect, it } from "vitest"
import * as Scale from "../../app/parts/chart/Scale.ts"

const steps = { whole: Scale.whole, decimal: Scale.decimal, duration: Scale.duration }

describe("the ticks of an axis", () => {
  it.each([
    ["whole", 0, [0]],
    ["whole", 1, [0, 1, 2, 3, 4]],
    ["whole", 3, [0, 1, 2, 3, 4]],
    ["whole", 22, [0, 10, 20, 30]],
    ["decimal", 0.03, [0, 0.01, 0.02, 0.03]],
    ["decimal", 1e-9, [0, 5e-10, 1e-9]],
    ["duration", 31_000, [0, 10_000, 20_000, 30_000, 40_000]],
    ["duration", 90_000, [0, 30_000, 60_000, 90_000]],
    ["duration", 400, [0, 100, 200, 300, 400]]
  ] as const)("%s, up to %d, are round", (kind, most, ticks) => {
    const found = Scale.ticksOf(most, steps[kind])
    expect(found.map((tick) => Number(tick.toPrecision(12)))).toEqual(ticks)
  })

  it("are never fewer than what is shown needs, nor more than five", () => {
    for (let most = 1; most < 1e9; most *= 1.37) {
      for (const each of Object.values(steps)) {
        const ticks = Scale.ticksOf(most, each)
        expect(ticks.at(-1)! >= most * 0.999_99 && ticks.length <= 5 + 1, `${most}: ${ticks.join()}`).toBe(true)
      }
    }
  })

  it("name the last slot, and as many before it as have room", () => {
    expect(Scale.labelled("day", 7, 600)).toEqual([6, 5, 4, 3, 2, 1, 0])
    expect(Scale.labelled("day", 30, 400)).toEqual([29, 22, 15, 8, 1])
    expect(Scale.labelled("hour", 24, 300)).toEqual([23, 17, 11, 5])
  })
})
