/**
 * Reads JSON as bytes, only as far as it is looked at: which values an object or an array holds, and where each begins and ends.
 * What is shown is what was sent: `1.0`, 9007199254740993, duplicate keys. The texts were checked when they were recorded.
 */

export interface Child {
  /** The key's text as it is written, without its quotes; undefined in an array. */
  readonly key: string | undefined
  /** The first byte of the value, and the one after the last. */
  readonly start: number
  readonly end: number
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

export const skipSpace = (bytes: Uint8Array, from: number): number => {
  let at = from
  while (isSpace(bytes[at])) at++
  return at
}

/** The end of the string whose quote is at `from`. */
const endOfString = (bytes: Uint8Array, from: number): number => {
  let at = from + 1
  for (;;) {
    const next = bytes.indexOf(quote, at)
    if (next === -1) return bytes.length
    let slashes = 0
    while (bytes[next - 1 - slashes] === backslash) slashes++
    if (slashes % 2 === 0) return next + 1
    at = next + 1
  }
}

/** The end of the value that begins at `from`. */
const endOfValue = (bytes: Uint8Array, from: number): number => {
  const first = bytes[from]
  if (first === quote) return endOfString(bytes, from)
  if (first !== openBrace && first !== openBracket) {
    let at = from
    while (at < bytes.length) {
      const byte = bytes[at]!
      if (byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte)) break
      at++
    }
    return at
  }
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at) - 1
    else if (byte === openBrace || byte === openBracket) depth++
    else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return at + 1
  }
  return bytes.length
}

const utf8 = new TextDecoder()

export const textOf = (bytes: Uint8Array, start: number, end: number): string => utf8.decode(bytes.subarray(start, end))

/** The values in the object or array that begins at `from`. */
export const childrenOf = (bytes: Uint8Array, from: number): ReadonlyArray<Child> => {
  const isObject = bytes[from] === openBrace
  const children: Array<Child> = []
  let at = skipSpace(bytes, from + 1)
  while (at < bytes.length && bytes[at] !== closeBrace && bytes[at] !== closeBracket) {
    let key: string | undefined
    if (isObject) {
      const end = endOfString(bytes, at)
      key = textOf(bytes, at + 1, end - 1)
      at = skipSpace(bytes, end)
      if (bytes[at] === colon) at = skipSpace(bytes, at + 1)
    }
    const end = endOfValue(bytes, at)
    children.push({ key, start: at, end })
    at = skipSpace(bytes, end)
    if (bytes[at] !== comma) break
    at = skipSpace(bytes, at + 1)
  }
  return children
}

/** Bytes of a row: lines are longer than a screen where a text has no line breaks. */
const rowBytes = 120

/** Where each row begins: after each line break, and within long lines, between two characters. */
export const rowsOf = (bytes: Uint8Array): Uint32Array => {
  let starts = new Uint32Array(Math.max(16, Math.ceil(bytes.length / rowBytes) * 2))
  let count = 0
  const add = (start: number) => {
    if (count === starts.length) {
      const larger = new Uint32Array(2 * count)
      larger.set(starts)
      starts = larger
    }
    starts[count++] = start
  }
  let at = 0
  add(0)
  while (at < bytes.length) {
    const line = bytes.subarray(at, at + rowBytes).indexOf(0x0a)
    let next = line === -1 ? at + rowBytes : at + line + 1
    // A byte 10xxxxxx continues a character.
    while (next < bytes.length && (bytes[next]! & 0xc0) === 0x80) next++
    at = next
    if (at < bytes.length) add(at)
  }
  return starts.slice(0, count)
}

const lower = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte)

/** More are not counted. */
const maxFound = 10_000

/** Where the words occur, whatever the case of Latin letters. */
export const find = (bytes: Uint8Array, words: Uint8Array): Uint32Array => {
  const found: Array<number> = []
  const wanted = words.map(lower)
  const [first] = wanted
  if (first === undefined) return new Uint32Array()
  const upper = first >= 0x61 && first <= 0x7a ? first & 0xdf : first
  const matches = (at: number): boolean => {
    for (let index = 1; index < wanted.length; index++)
      if (lower(bytes[at + index] ?? 0) !== wanted[index]) return false
    return true
  }
  let nextLower = bytes.indexOf(first)
  let nextUpper = upper === first ? -1 : bytes.indexOf(upper)
  while ((nextLower !== -1 || nextUpper !== -1) && found.length < maxFound) {
    const at = Math.min(...[nextLower, nextUpper].filter((next) => next !== -1))
    if (matches(at)) found.push(at)
    if (at === nextLower) nextLower = bytes.indexOf(first, at + 1)
    else nextUpper = bytes.indexOf(upper, at + 1)
  }
  return Uint32Array.from(found)
}

/** The index of the row that holds this byte. */
export const rowAt = (rows: Uint32Array, offset: number): number => {
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (rows[middle]! <= offset) low = middle
    else high = middle - 1
  }
  return low
}
