/**
 * A pack contains what is new with one event, in the form that a storage keeps. This module is the outer half of the format:
 * the compression, the checksum, and which other packs are needed to read the event. `PackContent` is the inner half.
 *
 *     byte      1, the format
 *     byte      compression of the content: 0 starts a chain, 1 continues one, 2 stands alone
 *     integer   size of the content in bytes, uncompressed
 *     integer   number of ranges of other packs that the event needs
 *     ranges    newest first: the number of packs between the range and the previous one (at first, this pack), and the
 *               number of packs in the range
 *     4 bytes   CRC-32, lowest byte first: of the pack's number (an integer), the head (all of the above) and the
 *               uncompressed content
 *     bytes     the content, compressed
 *
 * **Damage.** The checksum covers what comes out of the decompression, so it also shows that another pack of the chain is
 * damaged or missing. From a damaged pack on, its chain cannot be opened. `chainsOf` and `openChain` say what can be.
 *
 * **Chains.** Consecutive small packs of a session form one stream of raw deflate (RFC 1951), in which each pack is a
 * segment that ends on a byte boundary. Text that recurs within 32 KiB is therefore not stored again, and a chain is
 * inflated in one call. The stream uses the preset `dictionary`. The four bytes 00 00 FF FF at the end of each segment are
 * omitted, as in RFC 7692, section 7.2.1. A chain is limited in bytes and packs, to bound the time to read one event. Large
 * packs stand alone, as a zstd frame.
 */
import { crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { ByteWriter, toBuffer } from "./Bytes.ts"
import { type Chain, type CompressionEffort, deflate, extend, inflate } from "./Chain.ts"
import { Damage, decompressed } from "./Damage.ts"
import * as PackHead from "./PackHead.ts"
import * as PackRanges from "./PackRanges.ts"

const { maxChainBytes } = PackHead

/**
 * The numbers of the packs of a chain differ by less than this. A damaged pack takes the rest of its chain with it: chains of 64
 * packs take no more bytes than longer ones, of 32 packs 4 % more in a coding run.
 */
export const maxChainPacks = 64

/** The largest buffer that a length in a head allocates (bytes), because the head may be damaged. */
const maxContentChunkBytes = 64 * 1024 * 1024

/** Contents of this size stand alone: they gain little from the text before them. */
const aloneFromBytes = 32 * 1024

export interface Written {
  readonly kind: PackHead.PackKind
  /** The chain including this pack. Undefined if the next pack must start a chain. */
  readonly chain: Chain | undefined
  /** Compresses and returns the stored form. */
  readonly bytes: (effort?: CompressionEffort) => Buffer
}

const kindOf = (number: number, content: Buffer, chain: Chain | undefined): PackHead.PackKind => {
  if (content.length >= aloneFromBytes) return "alone"
  if (chain === undefined || chain.length + content.length > maxChainBytes) return "starts"
  return number - chain.start < maxChainPacks ? "continues" : "starts"
}

/** The packs that are read with pack `number` if it needs these, and continues the chain if there is one. */
export const neededBy = (
  number: number,
  needs: PackRanges.PackRanges,
  chain: Chain | undefined
): PackRanges.PackRanges =>
  PackRanges.atMost(
    PackHead.maxRanges,
    chain === undefined ? needs : PackRanges.add(needs, { from: chain.start, to: number - 1 })
  )

export const checksumBytes = 4

/** Reused for the number of each pack. */
const numberWriter = new ByteWriter(8)

const checksumOf = (number: number, head: Buffer, content: Buffer): number => {
  numberWriter.clear()
  numberWriter.integer(number)
  return crc32(content, crc32(head, crc32(numberWriter.view())))
}

/** Writes pack `number`. Copies `content`. `needs` are the other packs needed to read its event. */
export const write = (
  number: number,
  content: Buffer,
  needs: PackRanges.PackRanges,
  chain: Chain | undefined
): Written => {
  const kind = kindOf(number, content, chain)
  const ranges = neededBy(number, needs, kind === "continues" ? chain : undefined)
  const head = PackHead.write(number, { kind, contentLength: content.length, needs: ranges })
  const checksum = Buffer.allocUnsafe(checksumBytes)
  checksum.writeUInt32LE(checksumOf(number, head, content))
  if (kind === "alone") {
    const own = Buffer.from(content)
    return {
      kind,
      chain: undefined,
      bytes: () => Buffer.concat([head, checksum, zstdCompressSync(own)])
    }
  }
  const before = kind === "continues" ? chain : undefined
  const extended = extend(before, number, content)
  const own = extended.ending.at(-1)!
  return {
    kind,
    chain: extended,
    bytes: (effort = "thorough") => Buffer.concat([head, checksum, deflate(own, before, effort)])
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

interface ClosedPack extends StoredPack {
  readonly bytes: Buffer
  /** Undefined if it cannot be read. */
  readonly head: PackHead.StoredPackHead | undefined
}

/** A pack that stands alone, or a chain from its start. */
export type StoredChain = ReadonlyArray<ClosedPack>

const closed = ({ bytes: stored, number }: StoredPack): ClosedPack => {
  const bytes = toBuffer(stored)
  try {
    return { number, bytes, head: PackHead.read(number, bytes) }
  } catch {
    return { number, bytes, head: undefined }
  }
}

/**
 * Divides packs of one session, in ascending order, into chains. Packs at the beginning that continue a chain whose start is
 * not given are left out, because a chain can only be opened from its start.
 */
export const chainsOf = (packs: ReadonlyArray<StoredPack>): ReadonlyArray<StoredChain> => {
  const chains: Array<Array<ClosedPack>> = []
  for (const pack of packs) {
    const each = closed(pack)
    const last = chains.at(-1)
    if (each.head !== undefined && each.head.kind !== "continues") chains.push([each])
    else if (last !== undefined) last.push(each)
    // A pack whose head is damaged may have been the start of what follows.
    else if (each.head === undefined) chains.push([each])
  }
  return chains
}

/**
 * Those of a page. The last one may go on in the next page, which begins with it again, unless that would be this page again.
 */
export const wholeChainsOf = (packs: ReadonlyArray<StoredPack>, isLast: boolean): ReadonlyArray<StoredChain> => {
  const chains = chainsOf(packs)
  return !isLast && chains.length > 1 ? chains.slice(0, -1) : chains
}

export interface OpenChain {
  /** The packs before the first damaged one. */
  readonly packs: ReadonlyArray<OpenPack>
  /** The numbers of the other packs: a damaged one, and those of its chain that come after it. */
  readonly damaged: ReadonlyArray<number>
  /** Why they could not be opened, if there are any. */
  readonly damage: Damage | undefined
}

/** Unpacks at most `maxChainBytes`, or the one pack that stands alone. Never throws. */
export const openChain = (chain: StoredChain): OpenChain => {
  const first = chain[0]!
  if (first.head?.kind === "alone") return openAlone(chain, first, first.head)
  try {
    return { packs: openWhole(chain), damaged: [], damage: undefined }
  } catch {
    return openOneByOne(chain)
  }
}

const cut = (chain: StoredChain, packs: ReadonlyArray<OpenPack>, damage: Damage): OpenChain => ({
  packs,
  damaged: chain.slice(packs.length).map(({ number }) => number),
  damage
})

const headOf = ({ head, number, bytes }: ClosedPack): PackHead.StoredPackHead => head ?? PackHead.read(number, bytes)

/** Throws `Damage` unless the content is what was written. */
const checked = ({ bytes, number }: ClosedPack, { end }: PackHead.StoredPackHead, content: Buffer): Buffer => {
  if (checksumOf(number, bytes.subarray(0, end), content) === bytes.readUInt32LE(end)) return content
  throw new Damage(`The checksum of pack ${number} differs`)
}

const compressed = ({ bytes }: ClosedPack, { end }: PackHead.StoredPackHead): Buffer =>
  bytes.subarray(end + checksumBytes)

const openAlone = (chain: StoredChain, pack: ClosedPack, head: PackHead.StoredPackHead): OpenChain => {
  const { number } = pack
  try {
    const content = decompressed(`Pack ${number}`, () =>
      zstdDecompressSync(compressed(pack, head), {
        maxOutputLength: Math.max(1, head.contentLength),
        // In one chunk, because several would be copied into one.
        chunkSize: Math.min(Math.max(aloneFromBytes, head.contentLength + 1), maxContentChunkBytes)
      })
    )
    const packs = [{ number, content: checked(pack, head, content), chainStart: number, isAlone: true }]
    const next = chain[1]
    if (next === undefined) return { packs, damaged: [], damage: undefined }
    return cut(chain, packs, new Damage(`Pack ${next.number} continues a pack that stands alone`))
  } catch (error) {
    return cut(chain, [], Damage.of(error))
  }
}

/** Inflates a chain in one call. Throws if it is damaged. */
const openWhole = (chain: StoredChain): ReadonlyArray<OpenPack> => {
  const segments: Array<Buffer> = []
  let length = 0
  for (const pack of chain) {
    const head = headOf(pack)
    segments.push(compressed(pack, head))
    length += head.contentLength
  }
  if (length > maxChainBytes) throw new Damage(`The chain from pack ${chain[0]!.number} has ${length} bytes`)
  const inflated = inflate(segments, undefined, length)
  // More would be the last pack's: it is damaged, as it also is if packs after it are read.
  if (inflated.length !== length) throw new Damage(`The chain from pack ${chain[0]!.number} unpacks to other lengths`)
  let at = 0
  return chain.map((pack) => {
    const head = headOf(pack)
    const content = checked(pack, head, inflated.subarray(at, (at += head.contentLength)))
    return { number: pack.number, content, chainStart: chain[0]!.number, isAlone: false }
  })
}

/** Inflates each pack of a chain with the contents before it as the dictionary, up to the first damaged pack. */
const openOneByOne = (chain: StoredChain): OpenChain => {
  const packs: Array<OpenPack> = []
  let open: Chain | undefined
  try {
    for (const pack of chain) {
      const head = headOf(pack)
      const { contentLength } = head
      if ((open?.length ?? 0) + contentLength > maxChainBytes) throw new Damage(`Pack ${pack.number} is too long`)
      const inflated = decompressed(`Pack ${pack.number}`, () => inflate([compressed(pack, head)], open, contentLength))
      const content = checked(pack, head, inflated)
      packs.push({ number: pack.number, content, chainStart: chain[0]!.number, isAlone: false })
      open = extend(open, pack.number, content)
    }
    return { packs, damaged: [], damage: undefined }
  } catch (error) {
    return cut(chain, packs, Damage.of(error))
  }
}

/** Opens packs of one session, in ascending order. Throws `Damage` if one cannot be opened. */
export const open = (packs: ReadonlyArray<StoredPack>): ReadonlyArray<OpenPack> =>
  chainsOf(packs).flatMap((chain) => {
    const { damage, packs } = openChain(chain)
    if (damage !== undefined) throw damage
    return packs
  })

/** The last chain among open packs, for the next pack to continue. Undefined if the last pack stands alone. */
export const chainOf = (packs: ReadonlyArray<OpenPack>): Chain | undefined => {
  const last = packs.at(-1)
  if (last === undefined || last.isAlone) return undefined
  return packs
    .filter(({ chainStart }) => chainStart === last.chainStart)
    .reduce<Chain | undefined>((chain, { content, number }) => extend(chain, number, content), undefined)
}
