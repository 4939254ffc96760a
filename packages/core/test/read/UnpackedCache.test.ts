import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import type { Chain } from "../../src/payload/format/Chain.ts"
import { Damage } from "../../src/payload/format/Damage.ts"
import * as Memory from "../../src/payload/format/Memory.ts"
import * as Pack from "../../src/payload/format/Pack.ts"
import * as PackContent from "../../src/payload/format/PackContent.ts"
import * as PackHead from "../../src/payload/format/PackHead.ts"
import * as SharedPiece from "../../src/payload/format/SharedPiece.ts"
import { ByteWriter } from "../../src/payload/format/Bytes.ts"
import * as Template from "../../src/payload/format/Template.ts"
import * as OpenChain from "../../src/read/OpenChain.ts"
import { UnpackedCache } from "../../src/read/UnpackedCache.ts"
import { noise } from "../payload/Conversations.ts"

const none = { history: 0, parts: 0 }

/** The content of a pack whose inputs are one text. */
const contentOf = (text: string) => {
  const literal = (each: string) => {
    const out = new ByteWriter(32)
    Template.writeLiteral(out, Buffer.from(each), 0, Buffer.byteLength(each))
    return out.view()
  }
  return PackContent.write({ before: none, added: none }, [literal(text), literal("{}")])
}

/** One chain of small packs, or a large one that stands alone. */
const stored = (...texts: ReadonlyArray<string>): ReadonlyArray<Pack.StoredPack> => {
  let chain: Chain | undefined
  return texts.map((text, index) => {
    const pack = Pack.write(index + 1, contentOf(text), [], chain)
    chain = pack.chain
    return { number: index + 1, bytes: pack.bytes() }
  })
}

/** As a storage returns it: other bytes each time. */
const read = (packs: ReadonlyArray<Pack.StoredPack>): Pack.StoredChain =>
  Pack.chainsOf(packs.map(({ bytes, number }) => ({ number, bytes: Buffer.from(bytes) })))[0]!

/** By a read that begins now. */
const openIn = (cache: UnpackedCache, chain: Pack.StoredChain) => cache.openChain(chain, cache.clears)
const textIn = (cache: UnpackedCache, name: string, bytes: Uint8Array, maxBytes: number) =>
  cache.textOf(name, bytes, maxBytes, cache.clears)

const textsIn = ({ packs }: OpenChain.OpenChain) => packs.map(({ content }) => content.toString("latin1"))

const small = stored("one", "two", "three")
const large = stored(noise(1, 200_000))

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe("UnpackedCache", () => {
  it("opens a chain once while the same bytes are stored", () => {
    const cache = new UnpackedCache()
    const first = openIn(cache, read(small))
    expect(textsIn(first)).toEqual(textsIn(OpenChain.open(read(small))))
    expect(openIn(cache, read(small))).toBe(first)
  })

  it("gives the beginning of a chain that it has, and opens one that goes on", () => {
    const cache = new UnpackedCache()
    const two = openIn(cache, read(small.slice(0, 2)))
    const three = openIn(cache, read(small))
    expect([textsIn(two), textsIn(three)]).toEqual(
      [small.slice(0, 2), small].map((packs) => textsIn(OpenChain.open(read(packs))))
    )
    const beginning = openIn(cache, read(small.slice(0, 1)))
    expect(beginning.packs[0]).toBe(three.packs[0])
    expect([beginning.packs, beginning.contents, beginning.damage]).toEqual([
      three.packs.slice(0, 1),
      three.contents.slice(0, 1),
      undefined
    ])
  })

  it.each([0, 1, 2])("finds damage of pack %i of a chain that it has", (index) => {
    const cache = new UnpackedCache()
    openIn(cache, read(small))
    const damaged = small.map((pack) => ({ ...pack, bytes: Buffer.from(pack.bytes) }))
    const { bytes, number } = damaged[index]!
    // In its checksum.
    bytes[PackHead.read(number, bytes).end]! ^= 1
    const opened = openIn(cache, read(damaged))
    expect([opened.damage, opened.packs.length]).toEqual([expect.any(Damage), index])
    // What is right again is read again.
    expect(openIn(cache, read(small)).damage).toBeUndefined()
  })

  it.each([0, 1, 2])("finds pack %i of a chain that it has cut at its end", (index) => {
    const cache = new UnpackedCache()
    openIn(cache, read(small))
    const cut = small.map((pack, at) => (at === index ? { ...pack, bytes: pack.bytes.subarray(0, -5) } : pack))
    expect(openIn(cache, read(cut)).damage).toBeInstanceOf(Damage)
    // As the last one that is read, too.
    expect(openIn(cache, read(cut.slice(0, index + 1))).damage).toBeInstanceOf(Damage)
  })

  it("finds a large pack that it has cut at its end", () => {
    const cache = new UnpackedCache()
    openIn(cache, read(large))
    expect(
      openIn(cache, read(large.map((pack) => ({ ...pack, bytes: pack.bytes.subarray(0, -1) })))).damage
    ).toBeInstanceOf(Damage)
  })

  it("finds a pack that is stored under another number", () => {
    const cache = new UnpackedCache()
    openIn(cache, read(small))
    const [one, two, three] = small.map(({ bytes }) => bytes) as [Uint8Array, Uint8Array, Uint8Array]
    const moved = [
      { number: 1, bytes: one },
      { number: 2, bytes: two },
      { number: 4, bytes: three }
    ]
    expect(openIn(cache, read(moved)).damage).toBeInstanceOf(Damage)
  })

  it("keeps what reads close, and frees what it does not keep", () => {
    const cache = new UnpackedCache()
    const kept = openIn(cache, read(large))
    cache.closeChain(kept)
    expect(textsIn(openIn(cache, read(large)))).toEqual(textsIn(OpenChain.open(read(large))))
    const huge = openIn(cache, read(stored(noise(2, 9_000_000))))
    expect(huge.packs[0]!.content.length).toBeGreaterThan(9_000_000)
    cache.closeChain(huge)
    expect(huge.packs[0]!.content).toHaveLength(0)
  })

  it("frees what it keeps no longer, when no read uses it any more", () => {
    const cache = new UnpackedCache()
    const [used, unused] = [openIn(cache, read(large)), openIn(cache, read(stored(noise(6, 200_000))))]
    openIn(cache, read(large))
    cache.closeChain(unused)
    cache.clear()
    expect(unused.packs[0]!.content).toHaveLength(0)
    expect(used.packs[0]!.content.length).toBeGreaterThan(200_000)
    cache.closeChain(used)
    expect(used.packs[0]!.content.length).toBeGreaterThan(200_000)
    cache.closeChain(used)
    expect(used.packs[0]!.content).toHaveLength(0)
  })

  it("keeps no other memory with what is short", () => {
    const cache = new UnpackedCache()
    const { packs } = openIn(cache, read(small))
    const bytes = packs.reduce((sum, { content }) => sum + content.length, 0)
    expect(packs.map(({ content }) => content.buffer.byteLength)).toEqual([bytes, bytes, bytes])
    const text = textIn(cache, "name", SharedPiece.make(Buffer.alloc(32), Buffer.from("a text")).bytes(), 6)
    expect(text.buffer.byteLength).toBe(6)
  })

  it("keeps nothing that a read unpacks which began before it was cleared", () => {
    const cache = new UnpackedCache()
    const { clears } = cache
    cache.clear()
    const piece = SharedPiece.make(Buffer.alloc(32), Buffer.from("erased")).bytes()
    const [chain, text] = [cache.openChain(read(small), clears), cache.textOf("name", piece, 6, clears)]
    expect([textsIn(chain), text.toString()]).toEqual([textsIn(OpenChain.open(read(small))), "erased"])
    expect(openIn(cache, read(small))).not.toBe(chain)
    expect(textIn(cache, "name", piece, 6)).not.toBe(text)
  })

  it("unpacks a text once while the same bytes are stored, unless a read frees it", () => {
    const cache = new UnpackedCache()
    const piece = (text: string) => SharedPiece.make(Buffer.alloc(32), Buffer.from(text)).bytes()
    const [text, other, long] = [noise(3, 1000), noise(4, 1000), noise(5, 128 * 1024)]
    const first = textIn(cache, "name", piece(text), 1000)
    expect(first.toString()).toBe(text)
    expect(textIn(cache, "name", Buffer.from(piece(text)), 1000)).toBe(first)
    expect(() => textIn(cache, "name", piece(text), 999)).toThrow(Damage)
    expect(textIn(cache, "name", piece(other), 1000).toString()).toBe(other)
    // The second one has less than the memory in which it was unpacked.
    for (const each of [long, long.slice(1)]) {
      const freed = textIn(cache, "long", piece(each), each.length)
      Memory.free(freed)
      expect(textIn(cache, "long", piece(each), each.length).toString()).toBe(each)
    }
  })

  it("keeps nothing after it is cleared, or when nothing was read for ten seconds", () => {
    const cache = new UnpackedCache()
    const first = openIn(cache, read(small))
    cache.clear()
    const second = openIn(cache, read(small))
    expect(second).not.toBe(first)
    vi.advanceTimersByTime(9_999)
    expect(openIn(cache, read(small))).toBe(second)
    vi.advanceTimersByTime(10_000)
    expect(openIn(cache, read(small))).not.toBe(second)
  })

  it("copies nothing of a chain that it cannot keep", () => {
    const packs = stored(noise(2, 12_000_000))
    const heldBy = (use: (chain: Pack.StoredChain) => void) => {
      const chain = read(packs)
      const before = process.memoryUsage().arrayBuffers
      use(chain)
      return process.memoryUsage().arrayBuffers - before
    }
    const cache = new UnpackedCache()
    const alone = heldBy((chain) => OpenChain.free(OpenChain.open(chain)))
    const held = heldBy((chain) => cache.closeChain(openIn(cache, chain)))
    expect(held).toBeLessThan(Math.max(0, alone) + packs[0]!.bytes.length / 2)
  })
})
