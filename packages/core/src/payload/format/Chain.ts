/**
 * The stream of raw deflate that the packs of a chain form: its segments, one for each pack. To write or to read a segment alone
 * takes the contents before it, as far as the window of deflate reaches. `Pack` documents the layout.
 */
import { constants, deflateRawSync, inflateRawSync } from "node:zlib"
import { dictionary } from "./Dictionary.ts"

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

/** The chain with one more pack. */
export const extend = (chain: Chain | undefined, number: number, content: Buffer): Chain => {
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

const levelOf = (isLong: boolean, isQuick: boolean): number => {
  if (isQuick) return quickLevel
  return isLong ? longLevel : shortLevel
}

/** The segment of a content that continues a chain, or starts one. */
export const deflate = (content: Buffer, chain: Chain | undefined, effort: CompressionEffort): Buffer => {
  const isLong = content.length >= longFromBytes
  const isQuick = isLong && effort === "quick"
  const dictionaryBytes = isQuick ? Math.min(windowBytes, Math.max(quickWindowBytes, 2 * content.length)) : windowBytes
  const deflated = deflateRawSync(content, {
    dictionary: chain === undefined ? dictionary : dictionaryOf(chain, dictionaryBytes),
    level: levelOf(isLong, isQuick),
    // The largest table of hashes: finds the same matches in fewer steps.
    memLevel: constants.Z_MAX_MEMLEVEL,
    finishFlush: constants.Z_SYNC_FLUSH,
    // Large enough for the whole result. The default of 16 KiB is too much for many short contents.
    chunkSize: Math.max(64, content.length)
  })
  return deflated.subarray(0, deflated.length - flushMarker.length)
}

/** The contents of successive segments, `bytes` in all, that continue a chain, or start one. Throws if there are more. */
export const inflate = (segments: ReadonlyArray<Buffer>, chain: Chain | undefined, bytes: number): Buffer =>
  inflateRawSync(Buffer.concat(segments.flatMap((segment) => [segment, flushMarker])), {
    dictionary: chain === undefined ? dictionary : dictionaryOf(chain, windowBytes),
    finishFlush: constants.Z_SYNC_FLUSH,
    // In one chunk, because several would be copied into one.
    chunkSize: Math.max(64, bytes + 1),
    maxOutputLength: bytes + 1
  })
