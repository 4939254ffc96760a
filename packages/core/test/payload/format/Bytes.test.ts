import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ByteReader, ByteWriter, toBuffer } from "../../../src/payload/format/Bytes.ts"

const written = (integer: number): string => {
  const out = new ByteWriter()
  out.integer(integer)
  return out.view().toString("hex")
}

describe("Bytes", () => {
  it("writes integers with seven bits per byte, lowest first", () => {
    const expected = [
      [0, "00"],
      [1, "01"],
      [127, "7f"],
      [128, "8001"],
      [300, "ac02"],
      [16_383, "ff7f"],
      [16_384, "808001"],
      [2 ** 31, "8080808008"],
      [2 ** 32 + 1, "8180808010"],
      [2 ** 53 - 1, "ffffffffffffff0f"]
    ] as const
    for (const [integer, hex] of expected) {
      expect(written(integer)).toBe(hex)
      expect(new ByteReader(Buffer.from(hex, "hex")).integer()).toBe(integer)
    }
  })

  it("reads what was written, in order", () => {
    const integerOrBytes = fc.oneof(
      fc.maxSafeNat(),
      fc.nat(300),
      fc.integer({ min: 0, max: 53 }).map((bits) => 2 ** bits - 1),
      fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes))
    )
    fc.assert(
      fc.property(fc.array(integerOrBytes), fc.nat(40), (values, capacity) => {
        // A small capacity, so that the buffer has to grow.
        const out = new ByteWriter(capacity)
        for (const value of values) {
          if (typeof value === "number") out.integer(value)
          else out.bytes(value)
          out.byte(7)
        }
        const view = out.view()
        expect(view.length).toBe(out.length)
        const reader = new ByteReader(view)
        for (const value of values) {
          if (typeof value === "number") expect(reader.integer()).toBe(value)
          else expect(reader.bytes(value.length)).toEqual(value)
          expect(reader.byte()).toBe(7)
        }
        expect(reader.at).toBe(view.length)
      })
    )
  })

  it("writes a slice of a buffer", () => {
    const out = new ByteWriter(0)
    out.bytes(Buffer.of(1, 2, 3, 4), 1, 3)
    out.bytes(Buffer.of(1, 2, 3, 4), 3)
    expect(out.view()).toEqual(Buffer.of(2, 3, 4))
    out.clear()
    out.bytes(Buffer.of(5))
    expect(out.view()).toEqual(Buffer.of(5))
  })

  it("throws if the data ends early", () => {
    expect(() => new ByteReader(Buffer.of()).byte()).toThrow("Unexpected end of data")
    expect(() => new ByteReader(Buffer.of(0x80, 0x80)).integer()).toThrow("Unexpected end of data")
    const reader = new ByteReader(Buffer.of(1, 2, 3), 1)
    expect(() => reader.bytes(3)).toThrow("Unexpected end of data")
    expect(reader.bytes(2)).toEqual(Buffer.of(2, 3))
  })

  it("views bytes within a larger buffer without a copy", () => {
    const bytes = new Uint8Array(8).fill(9).subarray(2, 5)
    expect(toBuffer(bytes)).toEqual(Buffer.of(9, 9, 9))
    expect(toBuffer(bytes).buffer).toBe(bytes.buffer)
    const buffer = Buffer.of(1)
    expect(toBuffer(buffer)).toBe(buffer)
  })
})
