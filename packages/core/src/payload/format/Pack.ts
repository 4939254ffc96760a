/**
 * A pack contains what is new with one event, in the form that a storage keeps. This module is the outer half of the format:
 * the compression, and which other packs are needed to read the event. `PackContent` is the inner half.
 *
 *     byte      1, the format
 *     byte      compression of the content: 0 starts a chain, 1 continues one, 2 stands alone
 *     integer   size of the content in bytes, uncompressed
 *     integer   number of ranges of other packs that the event needs
 *     ranges    newest first: the number of packs between the range and the previous one (at first, this pack), and the
 *               number of packs in the range
 *     bytes     the content, compressed
 *
 * **Chains.** Consecutive small packs of a session form one stream of raw deflate (RFC 1951), in which each pack is a
 * segment that ends on a byte boundary. Text that recurs within 32 KiB is therefore not stored again, and a chain is
 * inflated in one call. The stream uses the preset `dictionary`. The four bytes 00 00 FF FF at the end of each segment are
 * omitted, as in RFC 7692, section 7.2.1. A chain is limited in bytes and packs, to bound the time to read one event. Large
 * packs stand alone, as a zstd frame.
 */
import {
  constants,
  deflateRawSync,
  inflateRawSync,
  type ZlibOptions,
  zstdCompressSync,
  zstdDecompressSync
} from "node:zlib"
import { toBuffer } from "./Bytes.ts"
import { dictionary } from "./Dictionary.ts"
import * as PackHead from "./PackHead.ts"
import * as PackRanges from "./PackRanges.ts"

/**
 * Levels of deflate. Most contents of an agent's calls are short, and cheap to compress at any level. For longer ones with a
 * full window, level 4 takes half the time of level 6 and 1 to 2 % more space.
 */
const shortLevel = 6
const longLevel = 4
const longFromBytes = 3 * 1024

/** The window of deflate. */
const windowBytes = 32 * 1024

/**
 * `quick` is for long contents while many events wait. It takes about three quarters of the CPU time and 2 to 3 % more
 * space: a lower level, and a dictionary of only twice the content's length (at least `quickWindowBytes`), because loading a
 * dictionary of 32 KiB takes half as long as compressing 4 KiB. Short contents depend on the window, and ignore the effort.
 */
export type CompressionEffort = "thorough" | "quick"
const quickLevel = 3
const quickWindowBytes = 8 * 1024

const maxChainBytes = 128 * 1024
const maxChainPacks = 128

/** Contents of this size stand alone: they gain little from the text before them. */
const aloneFromBytes = 32 * 1024

/** Ranges of other packs in a head. More are joined. */
const maxRanges = 16

/** The end of a flushed deflate block (RFC 7692, section 7.2.1). */
const flushMarker = Buffer.from([0x00, 0x00, 0xff, 0xff])

/** The last chain of a session, which the next small pack can continue. */
export interface Chain {
  /** The number of the pack that starts it. */
  readonly start: number
  /** Size of its contents in bytes. */
  readonly length: number
  /** Its last contents, as many as the window of deflate reaches. */
  readonly ending: ReadonlyArray<Buffer>
}

export interface Written {
  readonly kind: PackHead.PackKind
  /** The chain including this pack. Undefined if the next pack must start a chain. */
  readonly chain: Chain | undefined
  /** Compresses and returns the stored form. */
  readonly bytes: (effort?: CompressionEffort) => Buffer
}

const extend = (chain: Chain | undefined, number: number, content: Buffer): Chain => {
  // A copy outside the buffer pool, because it is cached with the session and must not retain a larger buffer.
  const last = Buffer.allocUnsafeSlow(content.length)
  content.copy(last)
  return {
    start: chain?.start ?? number,
    length: (chain?.length ?? 0) + content.length,
    ending: lastOf([...(chain?.ending ?? []), last], windowBytes)
  }
}

/** The fewest last contents that have at least this many bytes in total, or all of them. */
const lastOf = (contents: ReadonlyArray<Buffer>, bytes: number): ReadonlyArray<Buffer> => {
  let bytesLeft = bytes
  const first = contents.findLastIndex(({ length }) => (bytesLeft -= length) <= 0)
  return first > 0 ? contents.slice(first) : contents
}

/** Reused for each dictionary, because deflate copies it before it starts. Begins with the preset dictionary. */
const dictionaryBuffer = Buffer.alloc(dictionary.length + 2 * windowBytes)
dictionary.copy(dictionaryBuffer)

/** The last `bytes` bytes of the stream before the next pack of a chain. Valid until the next call. */
const dictionaryOf = ({ ending }: Chain, bytes: number): Buffer => {
  let end = dictionary.length
  for (const content of lastOf(ending, bytes)) end += content.copy(dictionaryBuffer, end)
  return dictionaryBuffer.subarray(Math.max(0, end - bytes), end)
}

const kindOf = (number: number, content: Buffer, chain: Chain | undefined): PackHead.PackKind => {
  if (content.length >= aloneFromBytes) return "alone"
  if (chain === undefined || chain.length + content.length > maxChainBytes) return "starts"
  return number - chain.start < maxChainPacks ? "continues" : "starts"
}

const levelOf = (isLong: boolean, isQuick: boolean): number => {
  if (isQuick) return quickLevel
  return isLong ? longLevel : shortLevel
}

const deflateOptions = (
  content: Buffer,
  kind: PackHead.PackKind,
  chain: Chain | undefined,
  effort: CompressionEffort
): ZlibOptions => {
  const isLong = content.length >= longFromBytes
  const isQuick = isLong && effort === "quick"
  const dictionaryBytes = isQuick ? Math.min(windowBytes, Math.max(quickWindowBytes, 2 * content.length)) : windowBytes
  return {
    dictionary: kind === "continues" ? dictionaryOf(chain!, dictionaryBytes) : dictionary,
    level: levelOf(isLong, isQuick),
    finishFlush: constants.Z_SYNC_FLUSH,
    // Large enough for the whole result. The default of 16 KiB is too much for many short contents.
    chunkSize: Math.max(64, content.length)
  }
}

/** Writes pack `number`. Copies `content`. `needs` are the other packs needed to read its event. */
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
  const head = PackHead.write(number, { kind, contentLength: content.length, needs: ranges })
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
      return Buffer.concat([head, deflated.subarray(0, deflated.length - flushMarker.length)])
    }
  }
}

/** A pack as a storage keeps it. */
export interface StoredPack {
  readonly number: number
  readonly bytes: Uint8Array
}

/** A decompressed pack. */
export interface OpenPack {
  readonly number: number
  readonly content: Buffer
  /** The number of the pack that starts its chain; its own number if it stands alone. */
  readonly chainStart: number
  readonly isAlone: boolean
}

/**
 * Opens packs of one session, in ascending order. A chain can only be opened from its start: packs at the beginning that
 * continue a chain whose start is not given are left out.
 */
export const open = (packs: ReadonlyArray<StoredPack>): ReadonlyArray<OpenPack> => {
  const openPacks: Array<OpenPack> = []
  let chain: Array<{ readonly number: number; readonly head: PackHead.StoredPackHead; readonly bytes: Buffer }> = []

  const openChain = () => {
    if (chain.length === 0) return
    const parts = chain.flatMap(({ bytes, head }) => [bytes.subarray(head.contentStart), flushMarker])
    const length = chain.reduce((sum, { head }) => sum + head.contentLength, 0)
    const inflated = inflateRawSync(Buffer.concat(parts), {
      dictionary,
      finishFlush: constants.Z_SYNC_FLUSH,
      chunkSize: Math.max(64, length + 1)
    })
    if (inflated.length !== length) {
      throw new Error(
        `The chain from pack ${chain[0]!.number} is damaged: ${inflated.length} bytes instead of ${length}`
      )
    }
    let at = 0
    for (const { head, number } of chain) {
      const content = inflated.subarray(at, (at += head.contentLength))
      openPacks.push({ number, content, chainStart: chain[0]!.number, isAlone: false })
    }
    chain = []
  }

  for (const { bytes: pack, number } of packs) {
    const bytes = toBuffer(pack)
    const head = PackHead.read(number, bytes)
    if (head.kind !== "continues") openChain()
    if (head.kind === "alone") {
      const content = zstdDecompressSync(bytes.subarray(head.contentStart))
      if (content.length !== head.contentLength) {
        throw new Error(`Pack ${number} is damaged: ${content.length} bytes instead of ${head.contentLength}`)
      }
      openPacks.push({ number, content, chainStart: number, isAlone: true })
    } else if (head.kind === "starts" || chain.length > 0) {
      chain.push({ number, head, bytes })
    }
  }
  openChain()
  return openPacks
}

/** The last chain among open packs, for the next pack to continue. Undefined if the last pack stands alone. */
export const chainOf = (packs: ReadonlyArray<OpenPack>): Chain | undefined => {
  const last = packs.at(-1)
  if (last === undefined || last.isAlone) return undefined
  return packs
    .filter(({ chainStart }) => chainStart === last.chainStart)
    .reduce<Chain | undefined>((chain, { content, number }) => extend(chain, number, content), undefined)
}
