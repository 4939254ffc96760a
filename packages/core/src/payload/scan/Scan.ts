/**
 * Locates values in a JSON text without parsing them: one pass over its UTF-8, at memory speed, that allocates only the keys
 * that are read.
 *
 * For a text that is not valid JSON, these functions throw `Malformed` or return a meaningless result. They terminate, and do
 * not read past the end of the text. They do not validate it: `JSON.parse` does.
 */

/** The position of a value in its text, in bytes: from `start` up to, not including, `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Thrown if the text is not JSON. A single instance, because capturing a stack trace would cost more than the scan. */
export const Malformed: Error = new Error("Not a JSON text")

export const quote = 0x22
export const openBracket = 0x5b
export const openBrace = 0x7b
export const comma = 0x2c
export const closeBracket = 0x5d
export const backslash = 0x5c
export const colon = 0x3a
export const closeBrace = 0x7d

/** The first offset at or after `at` that is not white space. */
export const skipSpace = (text: Buffer, at: number): number => {
  for (;;) {
    const code = text[at]
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at++
  }
}

/** A string is read byte by byte up to this length, and then with `indexOf`: the native call only pays off for long strings. */
const shortStringBytes = 48

/** The offset after the string that opens at `at`. */
export const skipString = (text: Buffer, at: number): number => {
  const shortEnd = Math.min(text.length, at + shortStringBytes)
  let end = at + 1
  for (; end < shortEnd; end++) {
    const code = text[end]
    if (code === quote) return end + 1
    if (code === backslash) end++
  }
  for (end = text.indexOf(quote, end); end !== -1; end = text.indexOf(quote, end + 1)) {
    let escapes = end - 1
    while (text[escapes] === backslash) escapes--
    // The quote is escaped if an odd number of backslashes precedes it.
    if ((end - escapes) % 2 === 1) return end + 1
  }
  throw Malformed
}

/** The offset after the value that starts at `at`. Counts nesting instead of recursing, so that depth is unlimited. */
export const skipValue = (text: Buffer, at: number): number => {
  const first = text[at]
  if (first === quote) return skipString(text, at)
  if (first !== openBrace && first !== openBracket) return skipScalar(text, at)
  const { length } = text
  let depth = 0
  while (at < length) {
    const code = text[at]
    if (code === quote) {
      at = skipString(text, at)
      continue
    }
    at++
    if (code === openBrace || code === openBracket) depth++
    else if ((code === closeBrace || code === closeBracket) && --depth === 0) return at
  }
  throw Malformed
}

/** The offset after a number, `true`, `false` or `null`: that of the first byte that can follow one. */
export const skipScalar = (text: Buffer, at: number): number => {
  const start = at
  for (; at < text.length; at++) {
    const code = text[at]!
    if (code <= 0x20 || code === comma || code === closeBrace || code === closeBracket) break
  }
  if (at === start) throw Malformed
  return at
}

/** The offset of what follows a value in an object or array: the next member or element, or the closing bracket. */
export const skipComma = (text: Buffer, at: number, close: number): number => {
  at = skipSpace(text, at)
  if (text[at] === comma) return skipSpace(text, at + 1)
  if (text[at] === close) return at
  throw Malformed
}

/** Called for each member with the offsets of its key and its value. Returns the offset after the value. */
type VisitMember = (keyStart: number, keyEnd: number, valueStart: number) => number

/** Visits the members of the object that opens at `at`, in order, with duplicates. Returns the offset after the object. */
export const scanMembers = (text: Buffer, at: number, visit: VisitMember): number => {
  at = skipSpace(text, at + 1)
  while (text[at] !== closeBrace) {
    if (text[at] !== quote) throw Malformed
    const keyEnd = skipString(text, at)
    const separator = skipSpace(text, keyEnd)
    if (text[separator] !== colon) throw Malformed
    at = skipComma(text, visit(at, keyEnd, skipSpace(text, separator + 1)), closeBrace)
  }
  return at + 1
}

/** Called for each element with its offset. Returns the offset after it. */
type VisitElement = (start: number) => number

/** Visits the elements of the array that opens at `at`, in order. Returns the offset after the array. */
export const scanElements = (text: Buffer, at: number, visit: VisitElement): number => {
  at = skipSpace(text, at + 1)
  while (text[at] !== closeBracket) at = skipComma(text, visit(at), closeBracket)
  return at + 1
}

/** The key that opens at `start`, unescaped. */
export const keyAt = (text: Buffer, start: number, end: number): string => {
  const raw = text.toString("utf8", start + 1, end - 1)
  return raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw
}

/** A path of keys and indexes. */
export type Path = ReadonlyArray<PropertyKey>

/** What is looked for at and below a value. */
interface Wanted {
  span: Span | undefined
  readonly inner: Map<string, Wanted>
}

const wantedNode = (): Wanted => ({ span: undefined, inner: new Map() })

/**
 * The values at paths. The last of duplicate keys wins, as in `JSON.parse`. Reads the text once for each level of the deepest
 * path, for any number of paths, and keeps only what is looked for.
 */
export const locateAll = (text: Buffer, paths: ReadonlyArray<Path>): ReadonlyArray<Span | undefined> => {
  const root = wantedNode()
  const found = paths.map((path) => {
    let node = root
    for (const step of path) {
      const key = String(step)
      const inner = node.inner.get(key) ?? wantedNode()
      node.inner.set(key, inner)
      node = inner
    }
    return node
  })
  const start = skipSpace(text, 0)
  root.span = { start, end: skipValue(text, start) }
  locateWithin(text, root)
  return found.map(({ span }) => span)
}

const locateWithin = (text: Buffer, { inner, span }: Wanted): void => {
  if (span === undefined || inner.size === 0) return
  const keep = (wanted: Wanted | undefined, start: number): number => {
    const end = skipValue(text, start)
    if (wanted !== undefined) wanted.span = { start, end }
    return end
  }
  if (text[span.start] === openBrace) {
    scanMembers(text, span.start, (keyStart, keyEnd, start) => keep(inner.get(keyAt(text, keyStart, keyEnd)), start))
  } else if (text[span.start] === openBracket) {
    let index = 0
    scanElements(text, span.start, (start) => keep(inner.get(String(index++)), start))
  }
  for (const wanted of inner.values()) locateWithin(text, wanted)
}

/** The value at a path. */
export const locate = (text: Buffer, path: Path): Span | undefined => locateAll(text, [path])[0]

/** Levels of objects and arrays within the value of a field. Texts that are stored as they are may have any number. */
export const maxLevels = 10_000

/** The depth of the deepest of them in a body: the body and the value of the field are two more levels. */
export const maxBodyDepth = maxLevels + 2

/** Whether objects and arrays are nested deeper than `maxDepth`, whatever else the text is. The outermost one is at depth 1. */
export const isDeeperThan = (text: Buffer, maxDepth: number): boolean => {
  const { length } = text
  let depth = 0
  for (let at = 0; at < length; at++) {
    const code = text[at]
    if (code === quote) at = endOfString(text, at) - 1
    else if (code === openBrace || code === openBracket) {
      if (++depth > maxDepth) return true
    } else if (code === closeBrace || code === closeBracket) depth--
  }
  return false
}

/** The offset after the string that opens at `at`; the end of the text if it does not close. */
const endOfString = (text: Buffer, at: number): number => {
  for (at++; at < text.length; at++) {
    const code = text[at]
    if (code === quote) return at + 1
    if (code === backslash) at++
  }
  return text.length
}
