import { describe, expect, it } from "vitest"
import * as Hue from "../../app/text/Hue.ts"

describe("the colour of a name", () => {
  it("is another one for the next version", () => {
    for (const [one, next] of [
      ["1.4.2", "1.4.3"],
      ["1.4.2", "1.5.0"],
      ["1.5.0", "2.0.0"],
      ["v9", "v10"],
      ["2026-11-28", "2026-11-29"]
    ] as const) {
      expect([one, Hue.of(one)]).not.toEqual([one, Hue.of(next)])
    }
  })

  it("stays the same, whatever else is shown", () => {
    expect(["claude-sonnet-4-5", "gpt-5", "", "ü"].map(Hue.of)).toEqual([3, 4, 4, 8])
    const names = Array.from({ length: 25 }, (_, number) => `agent ${number}`)
    const classes = Hue.classesOf(names)
    expect(Hue.classesOf(names.toReversed())).toEqual(classes)
    for (const name of names) expect(classes.get(name)).toMatch(new RegExp(`^hue-${Hue.of(name)}( hatched)?$`))
    // One of each colour is not hatched.
    expect(Array.from(classes.values()).filter((each) => !each.includes("hatched")).length).toBe(
      new Set(names.map(Hue.of)).size
    )
  })
})
