import { describe, expect, it } from "vitest"
import { argumentsOf, generic, media, part } from "../../src/normal/Parts.ts"

describe("parts", () => {
  it("have no fields that say nothing, and keep those that are not known", () => {
    const extras = JSON.parse('{"refusal":null,"type":"x","content":"lost","__proto__":{"a":1},"b":2}')
    const built = part("text", { content: "a", id: undefined, name: "" }, { ...extras, b: 2 })
    expect(JSON.parse(JSON.stringify(built))).toMatchObject({ type: "text", content: "a", b: 2 })
    expect(Object.keys(part("text", { content: "a" }, extras))).toContain("__proto__")
  })

  it("hold arguments parsed, or as the text that they were", () => {
    expect(argumentsOf('{"a":1}')).toEqual({ a: 1 })
    expect(argumentsOf('{"a":')).toBe('{"a":')
    expect(argumentsOf('{"a":9007199254740993}')).toBe('{"a":9007199254740993}')
    expect(argumentsOf({ a: 1 })).toEqual({ a: 1 })
  })

  it("tell bytes, addresses and files apart", () => {
    expect(media({ url: "data:image/png;base64,AAAA" })).toEqual({
      type: "blob",
      mime_type: "image/png",
      modality: "image",
      content: "AAAA"
    })
    expect(media({ url: "https://a.example/x.png", modality: "image" })).toEqual({
      type: "uri",
      modality: "image",
      uri: "https://a.example/x.png"
    })
    expect(media({ fileId: "file-1", mimeType: "application/pdf" })).toEqual({
      type: "file",
      mime_type: "application/pdf",
      modality: "document",
      file_id: "file-1"
    })
    expect(media({ url: "data:text/plain,Hello%20there" })).toMatchObject({
      type: "uri",
      uri: "data:text/plain,Hello%20there"
    })
  })

  it("are the provider's own where the conventions have none", () => {
    expect(generic({ type: "odd", a: 1 })).toEqual({ type: "odd", a: 1 })
    expect(generic({ a: 1 })).toEqual({ a: 1, type: "unknown" })
    expect(generic("text")).toEqual({ type: "unknown", content: "text" })
  })
})
