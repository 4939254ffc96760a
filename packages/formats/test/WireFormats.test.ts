import { describe, expect, it } from "vitest"
import { formats } from "../src/index.ts"
import { readers, wireApis, wireFormats } from "../src/WireFormats.ts"

describe.each(wireApis)("%s", (api) => {
  it("is known to captures as it is to readers", () => {
    const { accumulator, element, messages } = formats[api]
    expect(wireFormats[api]).toMatchObject({ accumulator, element, messages })
    expect(readers[api].messages).toBe(messages)
  })
})
