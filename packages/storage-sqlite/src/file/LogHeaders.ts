/** The headers of the database that a write-ahead log holds. https://sqlite.org/fileformat2.html#the_write_ahead_log */
import { readSync } from "node:fs"
import { endianness } from "node:os"
import { headerBytes } from "./Header.ts"

/** The header of a log, and that of each page in it. */
export const logHeaderBytes = 32
export const frameHeaderBytes = 24
/** The number that a log begins with, if its checksums read numbers with the low byte first. One more: with the high byte first. */
const magic = 0x377f0682
const pageBytesAt = 8
const salts = [16, 24] as const
const checksumAt = 24
const frameSalts = [8, 16] as const
const frameChecksumAt = 16
/** Of the header of a frame, its checksum covers this much. */
const summedBytes = 8

/** Frames in one read. The first one alone mostly says enough. */
const chunkFrames = 64

/** The beginning of a log, which changes when it starts anew; nothing of an empty one. */
export const beginning = (descriptor: number): Buffer => {
  const bytes = Buffer.alloc(logHeaderBytes)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, logHeaderBytes, 0))
}

/** The beginning of the index of a log, with the number of its frames, and the salts of the log: https://sqlite.org/walformat.html */
export const indexBytes = 48
const indexFrames = [16, 20] as const
const indexSalts = [32, 40] as const

/** Whether a log that is not empty has the beginning that its index says. It is written anew before the index has frames of it. */
export const isIndexed = (log: Buffer, index: Buffer): boolean =>
  log.length < logHeaderBytes ||
  index.subarray(...indexFrames).every((byte) => byte === 0) ||
  index.subarray(...indexSalts).equals(log.subarray(...salts))

type Sum = readonly [number, number]

/** Of words in the order of this machine. The bytes begin where a word may, as all of SQLite's have lengths that are multiples of 8. */
const addTo = ([first, second]: Sum, bytes: Buffer, isOwnOrder: boolean): Sum => {
  const ordered = isOwnOrder ? bytes : Buffer.from(bytes).swap32()
  const words = new Int32Array(ordered.buffer, ordered.byteOffset, ordered.length / 4)
  let a = first | 0
  let b = second | 0
  for (let at = 0; at < words.length; at += 2) {
    a = (a + words[at]! + b) | 0
    b = (b + words[at + 1]! + a) | 0
  }
  return [a >>> 0, b >>> 0]
}

const isAt = (bytes: Buffer, at: number, [first, second]: Sum): boolean =>
  bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second

/**
 * From the oldest on, up to the first frame that SQLite would not read. After so many frames as the index of the log has come those
 * of transactions that are not committed, or were rolled back.
 */
export function* read(descriptor: number, maxFrames = Number.POSITIVE_INFINITY): Generator<Buffer, void> {
  const log = beginning(descriptor)
  if (log.length < logHeaderBytes || (log.readUInt32BE(0) & ~1) !== magic) return
  const isOwnOrder = ((log.readUInt32BE(0) & 1) === 1) === (endianness() === "BE")
  let sum = addTo([0, 0], log.subarray(0, checksumAt), isOwnOrder)
  if (!isAt(log, checksumAt, sum)) return
  const frameBytes = frameHeaderBytes + log.readUInt32BE(pageBytesAt)
  let chunk = Buffer.allocUnsafe(frameBytes)
  let left = maxFrames
  for (let position = logHeaderBytes; ;) {
    const bytes = readSync(descriptor, chunk, 0, chunk.length, position)
    for (let at = 0; at + frameBytes <= bytes; at += frameBytes) {
      if (left-- === 0) return
      const frame = chunk.subarray(at, at + frameBytes)
      if (!frame.subarray(...frameSalts).equals(log.subarray(...salts))) return
      sum = addTo(sum, frame.subarray(0, summedBytes), isOwnOrder)
      sum = addTo(sum, frame.subarray(frameHeaderBytes), isOwnOrder)
      if (!isAt(frame, frameChecksumAt, sum)) return
      if (frame.readUInt32BE(0) === 1) {
        yield Buffer.from(frame.subarray(frameHeaderBytes, frameHeaderBytes + headerBytes))
      }
    }
    if (bytes < chunk.length) return
    position += bytes
    chunk = Buffer.allocUnsafe(chunkFrames * frameBytes)
  }
}
