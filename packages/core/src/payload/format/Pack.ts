/**
 * A pack is what is new with one event, as the bytes that a storage keeps. This module is the outer half of the format: how
 * a pack is compressed, and which other packs it takes to read it. `PackContent` is the inner half.
 *
 *     byte      1, the format
 *     byte      how the content is compressed: 0 starts a chain, 1 continues one, 2 stands alone
 *     integer   bytes of the content, uncompressed
 *     integer   how many ranges of packs its event needs beside its own
 *     ranges    from the newest to the oldest: how far the range ends before what stood last (at first this pack), and
 *               how many packs it has
 *     bytes     the content, compressed
 *
 * **Chains.** Small packs of one session are one stream of raw deflate (RFC 1951), each pack a piece of it that ends at a
 * byte: what the session said before, up to 32 KiB back, is not written again, and as many packs as are wanted are
 * inflated in one go. The stream starts with `vocabulary` as its dictionary. The four bytes 00 00 FF FF with which each
 * piece would end are left out (as in RFC 7692, section 7.2.1). A chain is bounded in bytes and packs, so that no
 * single event takes long to read. Large packs stand alone, as a frame of zstd.
 */
import {
  constants,
  deflateRawSync,
  inflateRawSync,
  type ZlibOptions,
  zstdCompressSync,
  zstdDecompressSync
} from "node:zlib"
import { ByteReader, ByteWriter, toBuffer } from "./Bytes.ts"
import * as PackRanges from "./PackRanges.ts"
import { dictionary } from "./Dictionary.ts"

const format = 1

const kinds = ["starts", "continues", "alone"] as const
type Kind = (typeof kinds)[number]

/**
 * Of deflate. Short content is most of what an agent's calls add, and costs little at any level; of longer content, 4 takes
 * half the time of 6 where the window is full, and one or two hundredths more room. `longFrom` is in bytes.
 */
const shortLevel = 6
const longLevel = 4
const longFrom = 3 * 1024

/** Deflate looks no further back, in bytes. */
const windowBytes = 32 * 1024

/**
 * Where many wait, long content is compressed for about three quarters of the cost: of what came before it, deflate is told
 * twice its length and `quickWindow` bytes at the least, because to be told of 32 KiB takes half as long as to compress 4. It
 * takes two or three hundredths more room. What is short lives on what came before it, and is never hurried.
 */
export type CompressionEffort = "thorough" | "quick"
const quickLevel = 3
const quickWindow = 8 * 1024

/** Content of a chain, in bytes. */
const maxChain = 128 * 1024

/** Packs of a chain. */
const maxChainPacks = 128

/** Content that is compressed alone, in bytes: what stands in it far outweighs what went before. */
const aloneFrom = 32 * 1024

/** Ranges of other packs that are written down; more of them are joined. */
const maxRanges = 16

const flushed = Buffer.from([0x00, 0x00, 0xff, 0xff])

/** Where the next small pack of a session can be added: the last chain, as far as deflate looks back. */
export interface Chain {
  /** The number of the pack that starts it. */
  readonly start: number
  /** Bytes of content in it. */
  readonly length: number
  /** The contents at its end, as many as deflate looks back into. */
  readonly ending: ReadonlyArray<Buffer>
}

export interface Written {
  readonly kind: Kind
  /** The chain as it is with this pack; none, if the next must start one. */
  readonly chain: Chain | undefined
  /** What is stored, compressed now. */
  readonly bytes: (effort?: CompressionEffort) => Buffer
}

const extend = (chain: Chain | undefined, number: number, content: Buffer): Chain => {
  // Of its own, not a view into something larger: it stays in memory for as long as the session does.
  const last = Buffer.allocUnsafeSlow(content.length)
  content.copy(last)
  return {
    start: chain?.start ?? number,
    length: (chain?.length ?? 0) + content.length,
    ending: lastOf([...(chain?.ending ?? []), last], windowBytes)
  }
}

/** The last contents, as many as have so many bytes together. */
const lastOf = (contents: ReadonlyArray<Buffer>, bytes: number): ReadonlyArray<Buffer> => {
  let left = bytes
  const first = contents.findLastIndex(({ length }) => (left -= length) <= 0)
  return first > 0 ? contents.slice(first) : contents
}

/** Deflate makes a copy of its own before it starts. */
const seen = Buffer.alloc(dictionary.length + 2 * windowBytes)
dictionary.copy(seen)

/** The last bytes that deflate has seen, or is told that it has, when the next pack of a chain comes. Good until it is called again. */
const dictionaryOf = ({ ending }: Chain, bytes: number): Buffer => {
  let end = dictionary.length
  for (const content of lastOf(ending, bytes)) end += content.copy(seen, end)
  return seen.subarray(Math.max(0, end - bytes), end)
}

const kindOf = (number: number, content: Buffer, chain: Chain | undefined): Kind =>
  content.length >= aloneFrom
    ? "alone"
    : chain !== undefined && chain.length + content.length <= maxChain && number - chain.start < maxChainPacks
      ? "continues"
      : "starts"

const deflateOptions = (
  content: Buffer,
  kind: Kind,
  chain: Chain | undefined,
  effort: CompressionEffort
): ZlibOptions => {
  const isLong = content.length >= longFrom
  const isQuick = isLong && effort === "quick"
  const seen = isQuick ? Math.min(windowBytes, Math.max(quickWindow, 2 * content.length)) : windowBytes
  return {
    dictionary: kind === "continues" ? dictionaryOf(chain!, seen) : dictionary,
    level: isQuick ? quickLevel : isLong ? longLevel : shortLevel,
    finishFlush: constants.Z_SYNC_FLUSH,
    // Room for all of it; what comes unless asked for is four times as much for each of many short ones.
    chunkSize: Math.max(64, content.length)
  }
}

/** The pack of this number, of a content that may be overwritten then. `needs` are the packs beside it that its event takes to read. */
export const write = (
  number: number,
  content: Buffer,
  needs: PackRanges.PackRanges,
  chain: Chain | undefined
): Written => {
  const kind = kindOf(number, content, chain)
  const ranges = PackRanges.atMost(
    maxRanges,
    kind === "continues" ? PackRanges.add(needs, { from: chain!.start, to: number - 1 }) : needs
  )
  const out = new ByteWriter(64)
  out.byte(format)
  out.byte(kinds.indexOf(kind))
  out.integer(content.length)
  out.integer(ranges.length)
  let last = number
  for (const { from, to } of ranges.toReversed()) {
    out.integer(last - to - 1)
    out.integer(to - from + 1)
    last = from
  }
  const head = out.view()
  if (kind === "alone") {
    const own = Buffer.from(content)
    return {
      kind,
      chain: undefined,
      bytes: () => Buffer.concat([head, zstdCompressSync(own)])
    }
  }
  const extended = extend(kind === "continues" ? chain : undefined, number, content)
  const own = extended.ending.at(-1)!
  return {
    kind,
    chain: extended,
    bytes: (effort = "thorough") => {
      const deflated = deflateRawSync(own, deflateOptions(own, kind, chain, effort))
      return Buffer.concat([head, deflated.subarray(0, deflated.length - flushed.length)])
    }
  }
}

export interface Head {
  readonly kind: Kind
  readonly contentLength: number
  readonly needs: PackRanges.PackRanges
  /** Where the compressed content starts. */
  readonly at: number
}

export const readHead = (number: number, pack: Uint8Array): Head => {
  const reader = new ByteReader(toBuffer(pack))
  const found = reader.byte()
  if (found !== format) throw new Error(`A pack of format ${found}: expected ${format}. Is this store newer?`)
  const kind = kinds[reader.byte()]
  if (kind === undefined) throw new Error("A pack that is compressed in an unknown way. Is this store newer?")
  const contentLength = reader.integer()
  const needs: Array<PackRanges.PackRange> = []
  let last = number
  for (let left = reader.integer(); left > 0; left--) {
    const to = last - reader.integer() - 1
    const from = to - reader.integer() + 1
    needs.unshift({ from, to })
    last = from
  }
  return { kind, contentLength, needs, at: reader.at }
}

/** A pack as a storage keeps it. */
export interface StoredPack {
  readonly number: number
  readonly bytes: Uint8Array
}

/** A pack's content, out of its chain. */
export interface OpenPack {
  readonly number: number
  readonly content: Buffer
  /** The number of the pack that starts its chain: its own, where it starts one or stands alone. */
  readonly chainStart: number
  readonly isAlone: boolean
}

/**
 * Opens packs of one session, in ascending order. A chain is opened from its start; packs that continue one whose start is
 * not among those given, which can only be the first, are left out.
 */
export const open = (packs: ReadonlyArray<StoredPack>): ReadonlyArray<OpenPack> => {
  const opened: Array<OpenPack> = []
  let chain: Array<{ readonly number: number; readonly head: Head; readonly bytes: Buffer }> = []

  const openChain = () => {
    if (chain.length === 0) return
    const parts = chain.flatMap(({ bytes, head }) => [bytes.subarray(head.at), flushed])
    const length = chain.reduce((sum, { head }) => sum + head.contentLength, 0)
    const inflated = inflateRawSync(Buffer.concat(parts), {
      dictionary: dictionary,
      finishFlush: constants.Z_SYNC_FLUSH,
      chunkSize: Math.max(64, length + 1)
    })
    if (inflated.length !== length) throw new Error("A chain of packs is broken")
    let at = 0
    for (const { head, number } of chain) {
      const content = inflated.subarray(at, (at += head.contentLength))
      opened.push({ number, content, chainStart: chain[0]!.number, isAlone: false })
    }
    chain = []
  }

  for (const { bytes: pack, number } of packs) {
    const bytes = toBuffer(pack)
    const head = readHead(number, bytes)
    if (head.kind !== "continues") openChain()
    if (head.kind === "alone") {
      const content = zstdDecompressSync(bytes.subarray(head.at))
      if (content.length !== head.contentLength) throw new Error(`Pack ${number} is broken`)
      opened.push({ number, content, chainStart: number, isAlone: true })
    } else if (head.kind === "starts" || chain.length > 0) {
      chain.push({ number, head, bytes })
    }
  }
  openChain()
  return opened
}

/** The last chain of packs that were opened, so that another pack can be added to it. */
export const chainOf = (packs: ReadonlyArray<OpenPack>): Chain | undefined => {
  const last = packs.at(-1)
  if (last === undefined || last.isAlone) return undefined
  return packs
    .filter(({ chainStart }) => chainStart === last.chainStart)
    .reduce<Chain | undefined>((chain, { content, number }) => extend(chain, number, content), undefined)
}
