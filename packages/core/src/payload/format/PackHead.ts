/** The head of a pack, in front of the compressed content. `Pack` documents the layout. */
import { ByteReader, ByteWriter, toBuffer } from "./Bytes.ts"
import type { PackRange, PackRanges } from "./PackRanges.ts"

const format = 1

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
  /** The offset of the compressed content in the pack. */
  readonly contentStart: number
}

/** Reads the head of pack `number`. */
export const read = (number: number, pack: Uint8Array): StoredPackHead => {
  const reader = new ByteReader(toBuffer(pack))
  const storedFormat = reader.byte()
  if (storedFormat !== format) {
    throw new Error(
      `Unknown pack format ${storedFormat}: expected ${format}. It may have been written by a newer version`
    )
  }
  const storedKind = reader.byte()
  const kind = kinds[storedKind]
  if (kind === undefined) {
    throw new Error(
      `Unknown pack compression ${storedKind}: expected 0, 1 or 2. It may have been written by a newer version`
    )
  }
  const contentLength = reader.integer()
  const needs: Array<PackRange> = []
  let previous = number
  for (let rangesLeft = reader.integer(); rangesLeft > 0; rangesLeft--) {
    const to = previous - reader.integer() - 1
    const from = to - reader.integer() + 1
    needs.unshift({ from, to })
    previous = from
  }
  return { kind, contentLength, needs, contentStart: reader.at }
}
