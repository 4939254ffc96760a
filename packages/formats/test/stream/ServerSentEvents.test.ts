import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ServerSentEvents from "@tachograph/formats/stream/ServerSentEvents"

const encoder = new TextEncoder()

const decode = (bytes: Uint8Array, cuts: ReadonlyArray<number> = []) => {
  const decoder = ServerSentEvents.make()
  const ends = [...new Set(cuts)].filter((cut) => cut < bytes.length).toSorted((a, b) => a - b)
  const chunks = [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
  return [...chunks.flatMap((chunk) => [...decoder.push(chunk)]), ...decoder.end()]
}

const decodeText = (text: string) => decode(encoder.encode(text))

describe("server-sent events", () => {
  it("end at a blank line", () => {
    expect(decodeText("event: a\ndata: 1\n\ndata: 2\n\n")).toEqual([
      { event: "a", data: "1" },
      { event: "", data: "2" }
    ])
  })

  it("end with the stream, although the blank line is missing", () => {
    expect(decodeText("data: 1")).toEqual([{ event: "", data: "1" }])
  })

  it("are told apart from comments and unknown fields", () => {
    expect(decodeText(": PROCESSING\n\nid: 7\nretry: 10\ndata: 1\n: ping\n\n")).toEqual([{ event: "", data: "1" }])
  })

  it("join several lines of data, and keep an empty one", () => {
    expect(decodeText("data: a\ndata:\ndata: b\n\ndata\n\n")).toEqual([
      { event: "", data: "a\n\nb" },
      { event: "", data: "" }
    ])
  })

  it("lose one space after the colon, and no other", () => {
    expect(decodeText("data:  a \n\ndata:b\n\n").map(({ data }) => data)).toEqual([" a ", "b"])
  })

  it("begin after a byte order mark", () => {
    expect(decodeText("\uFEFFdata: 1\n\n")).toEqual([{ event: "", data: "1" }])
  })

  it("do not end at the line separators of Unicode", () => {
    expect(decodeText("data: a\u2028b\u0085c\n\n")).toEqual([{ event: "", data: "a\u2028b\u0085c" }])
  })

  it("are the same wherever the bytes are cut, and whichever line ends they have", () => {
    const text = fc.stringMatching(/^(event: [a-c]|data: ?[ä€😀x:]{0,3}|data|: c|id: 1|\u0020|)$/u)
    const lines = fc.array(text, { maxLength: 12 })
    const ends = fc.constantFrom("\n", "\r\n", "\r")
    fc.assert(
      fc.property(lines, ends, fc.array(fc.nat(120)), (lines, end, cuts) => {
        const whole = decodeText(lines.join("\n"))
        expect(decode(encoder.encode(lines.join(end)), cuts)).toEqual(whole)
      })
    )
  })
})
