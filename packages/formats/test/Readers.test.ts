import { describe, expect, it } from "vitest"
import { accumulators } from "../src/Accumulators.ts"
import { type Api, formats } from "../src/index.ts"
import { readers } from "../src/Readers.ts"

describe.each(Object.keys(formats) as Array<Api>)("%s", (api) => {
  it("is read by its parts as by the whole", () => {
    const { conversationKeys, element, messages } = formats[api]
    const reader = readers[api]
    expect(reader.messages).toBe(messages)
    expect(reader.conversationKeys).toEqual(conversationKeys)
    const elements = [
      { role: "user", content: "Hi" },
      { type: "function_call", name: "f", arguments: "{}" },
      "Hi",
      null
    ]
    for (const value of elements) expect(reader.element(value)).toEqual(element(value))
    if (api !== "aisdk") expect(accumulators[api]).toBe(formats[api].accumulator)
  })
})
