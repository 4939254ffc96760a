import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, it } from "vitest"
import type { BodyStream } from "../../src/response/BodyStream.ts"
import { type HeldLine, LineReader, LineTooLong, OneAtATime } from "../../src/transfer/LineReader.ts"

const bodyOf = (pieces: Iterator<Uint8Array>): BodyStream => ({
  next: async () => {
    const { done, value } = pieces.next()
    return done === true ? undefined : value
  },
  cancel: () => {}
})

const linesOf = async (reader: LineReader<HeldLine>): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  for (;;) {
    const some = await reader.next()
    if (some === undefined) return lines
    for (const { bytes, number } of some) lines.push(`${number}: ${bytes ?? "too long"}`)
  }
}

const reader = (pieces: Iterable<Uint8Array>, maxBytes = 1024 ** 3) =>
  new LineReader(bodyOf(pieces[Symbol.iterator]()), maxBytes, 2 * maxBytes, new OneAtATime())

const text = 'one\n\n{"two":2}\r\nthree, the longest\nfour'

describe("LineReader", () => {
  it.each([1, 2, 3, 7, 100])("gives the same lines of pieces of %i bytes", async (length) => {
    const bytes = Buffer.from(text)
    const pieces = Array.from({ length: Math.ceil(bytes.length / length) }, (_, n) =>
      Uint8Array.from(bytes.subarray(n * length, (n + 1) * length))
    )
    expect(await linesOf(reader(pieces))).toEqual(["1: one", '3: {"two":2}', "4: three, the longest", "5: four"])
    const atMost9 = await linesOf(reader(pieces, 9))
    expect(atMost9).toEqual(["1: one", "3: too long", "4: too long", "5: four"])
  })

  it("leaves out a byte order mark, and keeps the bytes of one that is cut or within a line", async () => {
    const lines = await linesOf(reader([Buffer.from("\ufeff1\n\ufeff\n2\ufeff\n")]))
    expect(lines).toEqual(["1: 1", "3: 2\ufeff"])
    expect(await linesOf(reader([Buffer.from("\ufeff").subarray(0, 2)]))).toEqual(["1: \ufffd"])
  })

  it("skips a line of up to twice the limit, and reads nothing after a longer one", async () => {
    const lines = (length: number) => [Buffer.from("a\n"), Buffer.alloc(length, "b"), Buffer.from("\nc")]
    expect(await linesOf(reader(lines(20), 10))).toEqual(["1: a", "2: too long", "3: c"])
    await expect(linesOf(reader(lines(21), 10))).rejects.toThrow(LineTooLong)
  })

  it("holds little more than a line, however small its pieces are", async () => {
    const length = 500_000
    setFlagsFromString("--expose-gc")
    const collectGarbage = runInNewContext("gc") as () => void
    const held = () => {
      collectGarbage()
      const { external, heapUsed } = process.memoryUsage()
      return external + heapUsed
    }
    const before = held()
    let peak = 0
    const pieces = function* () {
      for (let n = 0; n < length; n++) {
        if (n % 100_000 === 99_999) peak = Math.max(peak, held())
        yield Uint8Array.of(97)
      }
    }
    expect((await linesOf(reader(pieces())))[0]).toHaveLength("1: ".length + length)
    // Each piece alone would take a hundred bytes or more.
    expect(peak - before).toBeLessThan(30 * 1024 * 1024)
  })
})
