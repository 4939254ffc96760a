import { RandomJson } from "@tachograph/testkit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Chain, CompressionEffort } from "../../../src/payload/format/Chain.ts"
import * as Pack from "../../../src/payload/format/Pack.ts"
import * as PackHead from "../../../src/payload/format/PackHead.ts"
import type { PackRanges } from "../../../src/payload/format/PackRanges.ts"
import { dictionary } from "../../../src/payload/format/Dictionary.ts"
import { noise } from "../Conversations.ts"

/** Writes consecutive packs, from number 1. */
const written = (contents: ReadonlyArray<Buffer>, efforts: ReadonlyArray<CompressionEffort> = []) => {
  let chain: Chain | undefined
  const chains: Array<Chain | undefined> = []
  const packs = contents.map((content, index): Pack.StoredPack => {
    const number = index + 1
    const pack = Pack.write(number, content, [], chain)
    const bytes = pack.bytes(efforts[index])
    chains.push((chain = pack.chain))
    // A storage may return a view into a larger buffer.
    const shifted = new Uint8Array(bytes.length + 3)
    shifted.set(bytes, 3)
    return { number, bytes: shifted.subarray(3) }
  })
  return { packs, chains }
}

/** With contents as strings, which are faster to compare than bytes. */
const comparable = (packs: ReadonlyArray<Pack.OpenPack>) =>
  packs.map(({ content, ...rest }) => ({ ...rest, content: content.toString("latin1") }))

/** The text in the window of deflate. */
const windowOf = (chain: Chain | undefined) => chain && Buffer.concat(chain.ending).toString("latin1")

const heads = (packs: ReadonlyArray<Pack.StoredPack>) => packs.map(({ bytes, number }) => PackHead.read(number, bytes))

/** Contents that compress well, and contents that do not compress. */
const content = fc
  .tuple(
    fc.nat(9),
    fc.oneof(
      { arbitrary: fc.integer({ min: 1, max: 300 }), weight: 6 },
      { arbitrary: fc.integer({ min: 300, max: 36_000 }), weight: 2 },
      { arbitrary: fc.constantFrom(16_383, 16_384, 16_385, 32_767, 32_768, 33_000), weight: 1 }
    ),
    fc.constantFrom("text", "bytes", "same")
  )
  .map(([seed, length, kind]) => {
    if (kind === "same") return Buffer.alloc(length, seed)
    const text = noise(seed, length)
    return kind === "text"
      ? Buffer.from(text)
      : Buffer.from(Uint8Array.from(text, (_, at) => text.charCodeAt(at) * 37 + at * seed))
  })

const effort = fc.constantFrom<CompressionEffort>("thorough", "quick")

describe("Pack", () => {
  it("opens to the written contents, starting from any chain", () => {
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 20 }), fc.array(effort), (contents, efforts) => {
        const { chains, packs } = written(contents, efforts)
        const kinds = heads(packs).map(({ kind }) => kind)
        let chainStart = 1
        const expected = contents.map((each, index) => {
          if (kinds[index] !== "continues") chainStart = index + 1
          return { number: index + 1, content: each.toString("latin1"), chainStart, isAlone: kinds[index] === "alone" }
        })
        for (const [index, kind] of kinds.entries()) {
          if (kind === "continues") continue
          expect(comparable(Pack.open(packs.slice(index)))).toEqual(expected.slice(index))
        }
        for (const [index, chain] of chains.entries()) {
          const reopened = Pack.chainOf(Pack.open(packs.slice(0, index + 1)))
          expect([reopened?.start, reopened?.length]).toEqual([chain?.start, chain?.length])
          expect(windowOf(reopened)).toBe(windowOf(chain))
        }
      }),
      { numRuns: RandomJson.runs(40) }
    )
  })

  it("uses the full window for short contents, and for long contents unless the effort is quick", () => {
    const repeatedBytes = (length: number, effort: CompressionEffort): number => {
      const repeated = Buffer.from(noise(1, length))
      const { packs } = written([repeated, Buffer.from(noise(2, 16_000)), repeated], [effort, effort, effort])
      return packs[2]!.bytes.length
    }
    expect(repeatedBytes(3_071, "thorough")).toBeLessThan(100)
    expect(repeatedBytes(3_071, "quick")).toBeLessThan(100)
    expect(repeatedBytes(3_072, "thorough")).toBeLessThan(100)
    expect(repeatedBytes(3_072, "quick")).toBeGreaterThan(1_000)
  })

  it("opens chains whose last packs are not given", () => {
    const contents = Array.from({ length: 12 }, (_, index) => Buffer.from(`${index} ${noise(index % 3, 9000)}`))
    const { packs } = written([...contents, ...contents, ...contents])
    const starts = heads(packs).flatMap(({ kind }, index) => (kind === "starts" ? [index] : []))
    expect(starts.length).toBeGreaterThan(2)
    const [first, second] = starts as [number, number]
    const given = [...packs.slice(first, first + 3), ...packs.slice(second, second + 2)]
    const all = Pack.open(packs)
    expect(comparable(Pack.open(given))).toEqual(comparable(given.map(({ number }) => all[number - 1]!)))
  })

  it("leaves out packs whose chain start is not given", () => {
    const { packs } = written([Buffer.from("one"), Buffer.from("two"), Buffer.alloc(40_000), Buffer.from("four")])
    expect(heads(packs).map(({ kind }) => kind)).toEqual(["starts", "continues", "alone", "starts"])
    expect(Pack.open(packs.slice(1)).map(({ number }) => number)).toEqual([3, 4])
    expect(Pack.open([])).toEqual([])
    expect(Pack.chainOf([])).toBeUndefined()
  })

  it("limits a chain to 64 packs and 128 KiB", () => {
    const small = written(Array.from({ length: 400 }, () => Buffer.from("small")))
    const large = written(Array.from({ length: 20 }, (_, index) => Buffer.from(noise(index, 30_000))))
    for (const { packs } of [small, large]) {
      for (const chain of Map.groupBy(Pack.open(packs), ({ chainStart }) => chainStart).values()) {
        expect(chain.length).toBeLessThanOrEqual(64)
        expect(chain.reduce((sum, { content }) => sum + content.length, 0)).toBeLessThanOrEqual(128 * 1024)
      }
    }
    expect(heads(small.packs).filter(({ kind }) => kind === "starts").length).toBe(7)
    expect(heads(large.packs).filter(({ kind }) => kind === "starts").length).toBe(5)
  })

  it("names the other packs that its event needs in the head", () => {
    const needs: PackRanges = [
      { from: 3, to: 3 },
      { from: 7, to: 250 },
      { from: 400, to: 998 }
    ]
    const { bytes: compressed, kind } = Pack.write(1000, Buffer.from("content"), needs, undefined)
    const bytes = compressed()
    expect(kind).toBe("starts")
    expect(PackHead.read(1000, bytes)).toMatchObject({ kind: "starts", contentLength: 7, needs })
    expect(bytes.toString("hex", 0, 13)).toBe("0100" + "07" + "03" + "01d704" + "9501f401" + "0301")

    const chain = { start: 240, length: 10, ending: [Buffer.from("ten bytes.")] }
    const more = Pack.write(260, Buffer.from("content"), needs.slice(0, 2), chain)
    expect(more.kind).toBe("continues")
    expect(PackHead.read(260, more.bytes()).needs).toEqual([
      { from: 3, to: 3 },
      { from: 7, to: 259 }
    ])
  })

  it("supports pack numbers up to 2^53 - 1", () => {
    const last = Number.MAX_SAFE_INTEGER
    const needs = [
      { from: 1, to: 1 },
      { from: last - 1, to: last - 1 }
    ]
    const bytes = Pack.write(last, Buffer.from("1"), needs, undefined).bytes()
    expect(PackHead.read(last, bytes).needs).toEqual(needs)
  })

  it("joins many needed ranges to at most 16 that include all of them", () => {
    const needs = Array.from({ length: 100 }, (_, index) => ({
      from: 10 * index + 1,
      to: 10 * index + 2 + (index % 5)
    }))
    const joined = PackHead.read(2000, Pack.write(2000, Buffer.from("1"), needs, undefined).bytes()).needs
    expect(joined.length).toBeLessThanOrEqual(16)
    for (const { from, to } of needs) expect(joined.some((range) => range.from <= from && to <= range.to)).toBe(true)
  })

  it("throws for an unknown format or compression", () => {
    const bytes = Pack.write(1, Buffer.from("content"), [], undefined).bytes()
    const other = Buffer.from(bytes)
    other[0] = 9
    const hint = "a newer version may have written it"
    expect(() => PackHead.read(1, other)).toThrow(`Pack 1 has format 9 instead of 1: ${hint}`)
    expect(() => Pack.open([{ number: 1, bytes: other }])).toThrow("Pack 1 has format 9")
    other[0] = 1
    other[1] = 3
    expect(() => Pack.open([{ number: 1, bytes: other }])).toThrow(
      `Pack 1 has compression 3 instead of 0, 1 or 2: ${hint}`
    )
  })

  it("opens a truncated pack to what was written, or throws", () => {
    const contents = ["first content", "second content, a little longer", noise(1, 500), "fourth"].map((each) =>
      Buffer.from(each)
    )
    const { packs } = written([...contents, Buffer.from(noise(2, 40_000)), Buffer.from("last")])
    const whole = comparable(Pack.open(packs))
    for (const [index, { bytes, number }] of packs.entries()) {
      const lengths = Array.from({ length: bytes.length }, (_, length) => length)
      for (const length of lengths.filter((each) => each < 100 || each > bytes.length - 10 || each % 997 === 0)) {
        const cut = packs.with(index, { number, bytes: bytes.subarray(0, length) })
        let openPacks: ReadonlyArray<Pack.OpenPack>
        try {
          openPacks = Pack.open(cut)
        } catch {
          continue
        }
        // The last bytes of a segment may encode only the end of the block.
        expect(length, `pack ${number}`).toBeGreaterThan(bytes.length - 4)
        expect(comparable(openPacks)).toEqual(whole)
      }
    }
  })

  it("loses with one other bit no more than the packs of the chain from there on, and opens no other content", () => {
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 12 }), fc.nat(), fc.nat(), (contents, which, bit) => {
        const { packs } = written(contents)
        const whole = comparable(Pack.open(packs))
        const flipped = packs[which % packs.length]!
        const bytes = Buffer.from(flipped.bytes)
        bytes[(bit >>> 3) % bytes.length]! ^= 1 << (bit & 7)
        const chains = Pack.chainsOf(packs.with(flipped.number - 1, { ...flipped, bytes }))
        const opened = chains.map(Pack.openChain)
        const found = comparable(opened.flatMap((chain) => chain.packs))
        const { chainStart } = whole[flipped.number - 1]!
        const isSafe = ({ number, ...pack }: (typeof whole)[number]) =>
          number < flipped.number || pack.chainStart !== chainStart
        const contentOf = ({ content, number }: (typeof whole)[number]) => [number, content]
        expect(found.filter(isSafe).map(contentOf)).toEqual(whole.filter(isSafe).map(contentOf))
        for (const { content, number } of found) expect(content).toBe(whole[number - 1]!.content)
        const damaged = opened.flatMap((chain) => chain.damaged)
        expect([...found.map(({ number }) => number), ...damaged].sort((a, b) => a - b)).toEqual(
          chains.flat().map(({ number }) => number)
        )
        for (const { damage, damaged } of opened) expect(damage === undefined).toBe(damaged.length === 0)
      }),
      { numRuns: RandomJson.runs(500) }
    )
  })

  it("opens the same packs of a damaged chain whether or not those after them are read", () => {
    const { packs } = written([1, 2, 3, 4].map((n) => Buffer.from(`{"role":"user","content":"${noise(n, 10 + n)}"}`)))
    for (const { bytes: original, number } of packs.slice(0, -1)) {
      for (let bit = 0; bit < 8 * original.length; bit++) {
        const bytes = Buffer.from(original)
        bytes[bit >>> 3]! ^= 1 << (bit & 7)
        const flipped = packs.with(number - 1, { number, bytes })
        const opened = (last: number) =>
          Pack.chainsOf(flipped.slice(0, last)).flatMap((chain) =>
            Pack.openChain(chain).packs.map(({ number }) => number)
          )
        const all = opened(packs.length)
        for (let last = number; last < packs.length; last++) {
          expect(opened(last), `bit ${bit} of pack ${number}`).toEqual(all.filter((each) => each <= last))
        }
      }
    }
  })

  it("opens no pack whose chain lacks an earlier pack", () => {
    const contents = [1, 2, 2, 1].map((n) => Buffer.from(noise(n, 300)))
    const { packs } = written(contents)
    const [opened] = Pack.chainsOf(packs.filter(({ number }) => number !== 2)).map(Pack.openChain)
    expect(opened!.packs.map(({ number }) => number)).toEqual([1])
    expect(opened!.damaged).toEqual([3, 4])
  })

  it("opens no pack under another number", () => {
    for (const size of [100, 40_000]) {
      const [{ bytes }] = written([Buffer.from(noise(1, size))]).packs as [Pack.StoredPack]
      expect(() => Pack.open([{ number: 2, bytes }])).toThrow(/checksum of pack 2/)
    }
  })

  it("names the pack of a chain that cannot be decompressed", () => {
    const { packs } = written([1, 2, 3].map((n) => Buffer.from(noise(n, 300))))
    const bytes = Buffer.from(packs[1]!.bytes)
    // The first block of deflate has the type 3, which is reserved.
    bytes[PackHead.read(2, bytes).end + 4] = 0xff
    expect(() => Pack.open(packs.with(1, { number: 2, bytes }))).toThrow(/^Pack 2 cannot be decompressed: invalid/)
  })

  it("unpacks no more than the head says", () => {
    const { packs } = written([Buffer.alloc(30_000_000, "0,")])
    const bytes = Buffer.from(packs[0]!.bytes)
    // Clears the highest byte of the length, an integer of four bytes.
    expect(PackHead.contentBytesOf(bytes)).toBe(30_000_000)
    bytes[5] = 0
    expect(PackHead.contentBytesOf(bytes)).toBeLessThan(2 ** 21)
    expect(() => Pack.open([{ number: 1, bytes }])).toThrow("Pack 1 has more content than it should")
  })

  it.each([100, 40_000])("throws if the length in the head is not that of the content of %i bytes", (size) => {
    const { packs } = written([Buffer.from(noise(1, size))])
    const bytes = Buffer.from(packs[0]!.bytes)
    // The length follows the format and the kind.
    for (const by of [1, 2]) {
      bytes[2] = packs[0]!.bytes[2]! ^ by
      expect(() => Pack.open([{ number: 1, bytes }])).toThrow()
    }
  })

  it("compresses text of the dictionary in every pack of a chain", () => {
    const content = dictionary.subarray(700, 1400)
    const { packs } = written([Buffer.from(noise(1, 500)), content, Buffer.from(noise(2, 5000)), content])
    expect(heads(packs).map(({ kind }) => kind)).toEqual(["starts", "continues", "continues", "continues"])
    expect(packs[1]!.bytes.length).toBeLessThan(40)
    expect(packs[3]!.bytes.length).toBeLessThan(40)
  })
})
