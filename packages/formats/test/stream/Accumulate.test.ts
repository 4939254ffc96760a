import { describe, expect, it, vi } from "vitest"
import type { JsonObject } from "@tachograph/formats"
import { accumulator } from "../../src/stream/Accumulate.ts"

const collect = () => {
  const payloads: Array<JsonObject> = []
  let isDone = false
  const accumulating = accumulator({
    take: (payload, event) => void payloads.push(event === "" ? payload : { event, ...payload }),
    done: () => void (isDone = true),
    build: () => ({ output: { payloads: [...payloads] }, ended: isDone ? "done" : "cut" })
  })
  const encoder = new TextEncoder()
  return {
    push: (text: string) => accumulating.push(encoder.encode(text)),
    end: () => accumulating.end(),
    size: () => accumulating.size(),
    payloads: () => accumulating.end().output["payloads"]
  }
}

describe("an accumulator", () => {
  it("can be asked at any moment, and takes more afterwards", () => {
    const stream = collect()
    stream.push('data: {"a":1}\n\nda')
    expect(stream.payloads()).toEqual([{ a: 1 }])
    stream.push('ta: {"a":2')
    expect(stream.payloads()).toEqual([{ a: 1 }])
    stream.push("}")
    expect(stream.payloads()).toEqual([{ a: 1 }, { a: 2 }])
    expect(stream.payloads()).toEqual([{ a: 1 }, { a: 2 }])
    stream.push("\n")
    expect(stream.payloads()).toEqual([{ a: 1 }, { a: 2 }])
    stream.push('\ndata: {"a":2}\n\ndata: [DONE]')
    expect(stream.payloads()).toEqual([{ a: 1 }, { a: 2 }, { a: 2 }])
    expect(stream.end().ended).toBe("done")
  })

  it("leaves out what is no object", () => {
    const stream = collect()
    stream.push('data: 1\n\ndata: {"a"\n\ndata: "text"\n\ndata:\n\ndata: [1]\n\ndata: null\n\n')
    expect(stream.payloads()).toEqual([])
  })

  it("takes an error that is no JSON, but not half of one", () => {
    const stream = collect()
    stream.push("event: error\ndata: upstream went away")
    expect(stream.payloads()).toEqual([])
    stream.push("\n\n")
    expect(stream.payloads()).toEqual([{ event: "error", error: "upstream went away" }])
  })

  it("says how long it is that it holds, without reading what is not complete", () => {
    const stream = collect()
    const output = '{"payloads":[{"a":1}]}'.length
    stream.push('data: {"a":1}\n\n')
    stream.push("data: {")
    const before = stream.size()
    expect(before).toBeGreaterThanOrEqual(output + "data: {".length)
    const parse = vi.spyOn(JSON, "parse")
    try {
      for (let index = 0; index < 100; index++) {
        stream.push(" ".repeat(1000))
        expect(stream.size()).toBe(before + (index + 1) * 1000)
      }
      stream.push("\ndata: ")
      expect(stream.size()).toBe(before + 100_000 + "\ndata: ".length)
      expect(parse).not.toHaveBeenCalled()
    } finally {
      parse.mockRestore()
    }
    stream.push("}\n\n")
    expect(stream.size()).toBe('{"payloads":[{"a":1},{}]}'.length + "}\n\n".length)
    expect(stream.payloads()).toEqual([{ a: 1 }, {}])
  })

  it("gives the text where a number is too large", () => {
    const stream = collect()
    stream.push('data: {"seed":15259210161316577001}\n\n')
    expect(stream.end().text).toBe('{"payloads":[{"seed":15259210161316577001}]}')
  })
})
