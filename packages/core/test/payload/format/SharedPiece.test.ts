import { RandomJson } from "@tachograph/testkit"
import { hash } from "node:crypto"
import { inflateRawSync, zstdDecompressSync } from "node:zlib"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as SharedPiece from "../../../src/payload/format/SharedPiece.ts"
import { dictionary } from "../../../src/payload/format/Dictionary.ts"
import { noise } from "../Conversations.ts"

const inflate = (bytes: Buffer) => inflateRawSync(bytes, { dictionary })

describe("SharedPiece", () => {
  it("decodes to the text that it was made from", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (string) => {
        const text = Buffer.from(string)
        const sha256 = hash("sha256", text, "buffer")
        const piece = SharedPiece.make(sha256, text)
        expect(piece.size).toBe(text.length)
        expect(piece.sha256).toBe(sha256)
        // A storage may return a view into a larger buffer.
        const stored = new Uint8Array(piece.bytes().length + 3)
        stored.set(piece.bytes(), 3)
        expect(SharedPiece.textOf(stored.subarray(3)).toString()).toBe(string)
      }),
      { numRuns: RandomJson.runs(30) }
    )
  })

  it("consists of a format byte and the text, compressed once by deflate, or by zstd from 8 KiB on", () => {
    for (const [size, format, inflated] of [
      [10, 1, inflate],
      [8_191, 1, inflate],
      [8_192, 2, zstdDecompressSync]
    ] as const) {
      const text = noise(1, size)
      const piece = SharedPiece.make(Buffer.alloc(32), Buffer.from(text))
      expect(piece.bytes()[0]).toBe(format)
      expect(inflated(piece.bytes().subarray(1)).toString() === text).toBe(true)
      expect(SharedPiece.textOf(piece.bytes()).toString() === text).toBe(true)
      expect(piece.bytes()).toBe(piece.bytes())
    }
  })

  it("throws for an unknown format", () => {
    for (const format of [0, 3]) {
      expect(() => SharedPiece.textOf(Buffer.of(format, 0))).toThrow(
        `A shared piece has format ${format} instead of 1 or 2: a newer version may have written it`
      )
    }
  })

  it.each([150, 40_000])("throws if a piece of %i bytes is truncated", (size) => {
    const stored = SharedPiece.make(Buffer.alloc(32), Buffer.from(noise(1, size))).bytes()
    const step = Math.ceil(stored.length / 200)
    for (let length = stored.length - 1; length >= 0; length -= step) {
      expect(() => SharedPiece.textOf(stored.subarray(0, length)), `${length} bytes`).toThrow()
    }
  })
})
