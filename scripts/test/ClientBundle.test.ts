import { describe, expect, it } from "vitest"
import { bundle } from "./BrowserBundle.ts"

describe("the bundle of the client for a browser", () => {
  it("is small, and depends on capture and formats only", async () => {
    const { bytes, inputs } = await bundle("client/src/index.ts")
    expect(bytes).toBeLessThanOrEqual(68_000)
    expect(inputs.filter((input) => !/^packages\/(?:client|capture|formats)\/src\//.test(input))).toEqual([])
  })

  it("holds the typed client alone where that is all that is used", async () => {
    const { bytes, inputs } = await bundle("client/src/api.ts")
    expect(bytes).toBeLessThanOrEqual(3_000)
    expect(inputs.filter((input) => !/^packages\/client\/src\/api[./]/.test(input))).toEqual([])
  })
})
