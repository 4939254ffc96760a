/**
 * The first bytes of a database, and the stamp in them. Every transaction of Tachograph writes a new one, so that two states of a file
 * are the same one if their stamps are: https://sqlite.org/fileformat2.html#the_database_header
 *
 * The stamp is the number that SQLite leaves to applications (`application_id`). Its upper half is drawn at random, and its lower
 * half is the upper half of the stamp before it. So the first page in a log names the state of the file that the log goes on from.
 */
import { randomInt } from "node:crypto"

export const headerBytes = 100

const magic = Buffer.from("SQLite format 3\0")
/** Where the header has the versions that may write and read the file, which are 2 with a write-ahead log. */
const versions = 18
const pageCountAt = 28
const stampAt = 68

export const stampOf = (header: Buffer): number => header.readInt32BE(stampAt)

/** The half that a stamp has of its own. */
const ownOf = (stamp: number): number => stamp >>> 16

export const next = (stamp: number): number => (randomInt(1, 0x1_0000) << 16) | ownOf(stamp)

export const bytesOf = (header: Buffer, pageBytes: number): number => header.readUInt32BE(pageCountAt) * pageBytes

/** Whether it is the header of a database with a write-ahead log. */
export const isValid = (header: Buffer): boolean =>
  header.length === headerBytes &&
  header.subarray(0, magic.length).equals(magic) &&
  header[versions] === 2 &&
  header[versions + 1] === 2

/** Whether a log may go on from the file, by the first header in the log. Other programs leave the stamp as it is. */
export const continues = (header: Buffer, firstInLog: Buffer): boolean => {
  const stamp = stampOf(firstInLog)
  return stamp === stampOf(header) || (stamp & 0xffff) === ownOf(stampOf(header))
}
