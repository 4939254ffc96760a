/** The head of a pack, in front of its checksum and the compressed content. `Pack` documents the layout. */
import { ByteReader, ByteWriter, toBuffer } from "./Bytes.ts"
import { Damage } from "./Damage.ts"
import type { PackRange, PackRanges } from "./PackRanges.ts"

const format = 1

/** Ranges of other packs. More are joined. */
export const maxRanges = 16

/** Bytes of contents in a chain. */
export const maxChainBytes = 128 * 1024

/** How the content is compressed. The index is the byte in the head. */
const kinds = ["starts", "continues", "alone"] as const
export type PackKind = (typeof kinds)[number]

export interface PackHead {
  readonly kind: PackKind
  /** Size of the content in bytes, uncompressed. */
  readonly contentLength: number
  /** The other packs needed to read the event. */
  readonly needs: PackRanges
}

/** Writes the head of pack `number`. */
export const write = (number: number, { contentLength, kind, needs }: PackHead): Buffer => {
  const out = new ByteWriter(64)
  out.byte(format)
  out.byte(kinds.indexOf(kind))
  out.integer(contentLength)
  out.integer(needs.length)
  let previous = number
  for (const { from, to } of needs.toReversed()) {
    out.integer(previous - to - 1)
    out.integer(to - from + 1)
    previous = from
  }
  return out.view()
}

export interface StoredPackHead extends PackHead {
  /** Its length. */
  readonly end: number
}

/** Reads the head of pack `number`. */
export const read = (number: number, pack: Uint8Array): StoredPackHead => {
  const reader = new ByteReader(toBuffer(pack))
  const storedFormat = reader.byte()
  if (storedFormat !== format) {
    throw new Damage(
      `Pack ${number} has format ${storedFormat} instead of ${format}: a newer version may have written it`
    )
  }
  const storedKind = reader.byte()
  const kind = kinds[storedKind]
  if (kind === undefined) {
    throw new Damage(
      `Pack ${number} has compression ${storedKind} instead of 0, 1 or 2: a newer version may have written it`
    )
  }
  const contentLength = reader.integer()
  const needs: Array<PackRange> = []
  const ranges = reader.integer()
  if (ranges > maxRanges) throw new Damage(`Pack ${number} needs ${ranges} ranges of packs`)
  let previous = number
  for (let rangesLeft = ranges; rangesLeft > 0; rangesLeft--) {
    const to = previous - reader.integer() - 1
    const from = to - reader.integer() + 1
    if (from < 1 || from > to) throw new Damage(`Pack ${number} needs packs ${from} to ${to}`)
    needs.unshift({ from, to })
    previous = from
  }
  return { kind, contentLength, needs, end: reader.at }
}

/**
 * Size of the content in bytes, uncompressed, from the beginning of a pack. If that is damaged, the size may be wrong, but
 * it is not more than a pack of its kind may have.
 */
export const contentBytesOf = (beginning: Uint8Array): number => {
  const reader = new ByteReader(toBuffer(beginning), 1)
  try {
    const kind = reader.byte()
    const contentLength = reader.integer()
    return kinds[kind] === "alone" ? contentLength : Math.min(contentLength, maxChainBytes)
  } catch {
    return 0
  }
}
