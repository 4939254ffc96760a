import { describe, expect, it } from "vitest"
import * as Format from "../../app/text/Format.ts"

describe("numbers as people read them", () => {
  it.each([
    [0, "0 ms"],
    [999.4, "999 ms"],
    [999.9, "1.0 s"],
    [9_949, "9.9 s"],
    [9_960, "10 s"],
    [59_499, "59 s"],
    [59_600, "1 min 0 s"],
    [119_600, "2 min 0 s"],
    [3_599_600, "1 h 0 min"],
    [172_800_000, "2 d 0 h"]
  ])("a duration of %d ms is %s", (ms, text) => expect(Format.duration(ms)).toBe(text))

  it.each([
    ["0.0000000012", "$0.0000000012"],
    ["0.00000000000000123", "$0.0000000000000012"],
    ["0.0012345", "$0.0012"],
    ["0.1", "$0.10"],
    ["99.999", "$100"],
    ["1234567.8", "$1,234,568"],
    ["-0.5", "−$0.50"]
  ])("%s dollars are %s", (value, text) => expect(Format.dollars(value)).toBe(text))

  it.each([
    [
      ["0.0031", "12.4", null],
      ["$0.0031", "$12.4000", "–"]
    ],
    [
      ["0.02", "0.5"],
      ["$0.020", "$0.500"]
    ],
    [
      ["1234.5", "0.001"],
      ["$1,234.50", "<$0.01"]
    ],
    [
      ["0.0000000012", "0"],
      ["<$0.000001", "$0.000000"]
    ]
  ])("%j are compared as %j", (values, texts) => {
    const digits = Format.digitsOf(values)
    expect(values.map((value) => Format.dollars(value, digits))).toEqual(texts)
  })

  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1.0 kB"],
    [9_960, "10 kB"],
    [999_600, "1.0 MB"],
    [4_000_000, "4.0 MB"]
  ])("%d bytes are %s", (value, text) => expect(Format.bytes(value)).toBe(text))

  it.each(["", "a", "ü", "漢", "😀", "a😀ü漢"])("the bytes of %j are those of UTF-8", (text) =>
    expect(Format.sizeOf(text)).toBe(Buffer.byteLength(text))
  )
})
