import { describe, expect, it } from "vitest"
import { bundle } from "./BrowserBundle.ts"

/** The most that `@tachograph/formats` may add to a page, in bytes after gzip. */
const maxBytes = 28_000

describe("the bundle of formats for a browser", () => {
  it("is small, and depends on nothing", async () => {
    const { bytes, inputs } = await bundle("formats/src/index.ts")
    expect(bytes).toBeLessThanOrEqual(maxBytes)
    expect(inputs.filter((input) => !input.startsWith("packages/formats/src/"))).toEqual([])
  })

  it.each(["ChatCompletions", "Responses", "Messages", "Models", "Interactions", "AiSdk"])(
    "can hold one format alone: %s",
    async (format) => {
      const { inputs } = await bundle(`formats/src/${format}.ts`)
      const names = inputs.map((input) => input.replace(/^.*\//, "").replace(/\.ts$/, ""))
      const others = ["ChatCompletions", "Responses", "Messages", "Models", "Interactions", "AiSdk"].filter(
        (name) => name !== format
      )
      expect(names).toContain(format)
      expect(names.filter((name) => others.includes(name))).toEqual([])
    }
  )
})
