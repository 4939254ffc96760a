import { describe, expect, it } from "vitest"
import { PriceFile } from "@tachograph/prices"

const price = { model: "m", input_mtok: 1, output_mtok: 2 }

const problemOf = (content: unknown): string => {
  try {
    PriceFile.parse(typeof content === "string" ? content : JSON.stringify(content))
    return ""
  } catch (error) {
    if (error instanceof PriceFile.PriceFileError) return error.message
    throw error
  }
}

describe("a price file", () => {
  it("has a day and prices", () => {
    expect(problemOf({ date: "2026-11-01", prices: [price] })).toBe("")
    expect(problemOf({ date: "2026-11-01", prices: [] })).toBe("")
  })

  it.each<[string, unknown]>([
    ["The text is not JSON", "{"],
    ["The file is not an object", []],
    ['The file has an unknown key "price"; known are date, prices', { price: [] }],
    ["date is not a day such as 2026-11-01", { date: "November", prices: [] }],
    ["date is not a day such as 2026-11-01", { date: "2026-13-01", prices: [] }],
    ["prices is not an array", { date: "2026-11-01", prices: {} }],
    ["prices[1] is not an object", { date: "2026-11-01", prices: [price, 1] }],
    ["prices[0].model is not a name", { date: "2026-11-01", prices: [{ ...price, model: " " }] }],
    ["prices[0].provider is not a name", { date: "2026-11-01", prices: [{ ...price, provider: null }] }],
    ["prices[0] has no output_mtok", { date: "2026-11-01", prices: [{ model: "m", input_mtok: 1 }] }],
    ["prices[0].input_mtok is not a number of dollars", { date: "2026-11-01", prices: [{ ...price, input_mtok: -1 }] }],
    [
      "prices[0].output_mtok is not a number of dollars",
      { date: "2026-11-01", prices: [{ ...price, output_mtok: "2" }] }
    ],
    ['prices[0] has an unknown key "ouput"', { date: "2026-11-01", prices: [{ ...price, ouput: 1 }] }]
  ])("is refused where it is wrong: %s", (problem, content) => {
    expect(problemOf(content)).toContain(problem)
  })
})
