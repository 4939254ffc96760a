import { describe, expect, it } from "vitest"
import { bundle } from "./BrowserBundle.ts"

/** The most that `@tachograph/formats` may add to a page, in bytes after gzip. */
const maxBytes = 36_500

const formats = [
  ...["openai/ChatCompletions", "openai/Responses", "anthropic/Messages"],
  ...["google/Models", "google/Interactions", "aisdk/AiSdk"]
]

describe("the bundle of formats for a browser", () => {
  it("is small, and depends on nothing", async () => {
    const { bytes, inputs } = await bundle("formats/src/index.ts")
    expect(bytes).toBeLessThanOrEqual(maxBytes)
    expect(inputs.filter((input) => !input.startsWith("packages/formats/src/"))).toEqual([])
  })

  it.each(formats)("can hold one format alone: %s", async (format) => {
    const file = `formats/src/${format}.ts`
    const { inputs } = await bundle(file)
    const others = formats.map((other) => `packages/formats/src/${other}.ts`).filter((other) => !other.endsWith(file))
    expect(inputs).toContain(`packages/${file}`)
    expect(inputs.filter((name) => others.includes(name))).toEqual([])
  })
})
