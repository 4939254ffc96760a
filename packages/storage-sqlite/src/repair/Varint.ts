/** Integers of SQLite's files that take 1 to 9 bytes: https://sqlite.org/fileformat2.html#varint */

const maxBytes = 9

/** Bytes beyond the end count as zeros. */
export const read = (bytes: Buffer, start: number): { readonly value: bigint; readonly end: number } => {
  let value = 0n
  for (let n = 0; n < maxBytes; n++) {
    const byte = bytes[start + n] ?? 0
    if (n === maxBytes - 1) return { value: BigInt.asIntN(64, (value << 8n) | BigInt(byte)), end: start + maxBytes }
    value = (value << 7n) | BigInt(byte & 0x7f)
    if (byte < 0x80) return { value, end: start + n + 1 }
  }
  return { value, end: start + maxBytes }
}
