import { describe, expect, it } from "vitest"
import * as Cases from "../../src/http/Cases.ts"

const run = async () => {}

const collect = () =>
  Cases.collect(
    ({ describe, it }) => {
      describe("First", () => {
        it("plain", run)
        it("tagged", { tags: ["adapter"], timeout: 5 }, run)
      })
      describe("Second", () => {
        it.each(
          [
            ["a", 1],
            ["b", 2]
          ],
          { tags: ["body-limit", "adapter"] }
        )("row %s of %j", async () => {})
      })
    },
    () => {
      throw new Error("Cases that are only collected do not run")
    }
  )

const titles = (cases: ReadonlyArray<Cases.Case>) => cases.map(({ group, title }) => `${group}: ${title}`)

describe("Cases", () => {
  it("collects every case with its group, and a case per row", () => {
    expect(titles(collect())).toEqual(["First: plain", "First: tagged", "Second: row a of 1", "Second: row b of 2"])
    expect(collect()[1]).toMatchObject({ tags: ["adapter"], timeout: 5 })
  })

  it("selects all cases, or those with a tag", () => {
    expect(titles(Cases.select(collect(), undefined))).toHaveLength(4)
    expect(titles(Cases.select(collect(), "adapter"))).toEqual([
      "First: tagged",
      "Second: row a of 1",
      "Second: row b of 2"
    ])
    expect(titles(Cases.select(collect(), "body-limit"))).toHaveLength(2)
  })

  it("fails if it selects no case", () => {
    expect(() => Cases.select([], undefined)).toThrow("selects no case")
    expect(() => Cases.select(collect().slice(0, 1), "adapter")).toThrow("none has the tag adapter")
  })

  it("fails if an exception replaces no case, or several", () => {
    const exceptions = { plain: { why: "", instead: run } }
    expect(() => Cases.checkExceptions(collect(), exceptions)).not.toThrow()
    expect(() => Cases.checkExceptions(Cases.select(collect(), "adapter"), exceptions)).toThrow("replaces 0: plain")
    expect(() => Cases.checkExceptions([...collect(), ...collect()], exceptions)).toThrow("replaces 2: plain")
  })
})
