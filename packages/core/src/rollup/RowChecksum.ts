/**
 * The checksum at the end of what a row of sums keeps. It covers the row's key, too, so that sums which damage has put under the
 * key of others are not taken for those of these.
 */
import { crc32 } from "node:zlib"
import { Damage } from "../payload/format/Damage.ts"
import { toBuffer } from "../payload/format/Bytes.ts"

const checksumBytes = 4

/** `key` is a text that names the row. */
export const append = (key: string, bytes: Uint8Array): Uint8Array => {
  const checked = Buffer.alloc(bytes.length + checksumBytes)
  checked.set(bytes)
  checked.writeUInt32LE(crc32(bytes, crc32(key)), bytes.length)
  return checked
}

/** What the checksum was appended to. Throws `Damage` if it is not that of these bytes and this key. */
export const verified = (key: string, checked: Uint8Array): Uint8Array => {
  const length = checked.length - checksumBytes
  if (length < 0) throw new Damage("A row of sums is too short")
  const bytes = checked.subarray(0, length)
  if (crc32(bytes, crc32(key)) !== toBuffer(checked).readUInt32LE(length)) {
    throw new Damage("The checksum of a row of sums differs")
  }
  return bytes
}
