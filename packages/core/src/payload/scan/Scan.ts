/**
 * Finds where values stand in a JSON text, without parsing them: one pass over its UTF-8, at memory speed, with nothing
 * allocated but the keys that are looked at.
 *
 * On a text that is not valid JSON these functions either throw `Malformed` or answer something without meaning; they
 * never read past its end and always come to one. Whether a text is valid is for `JSON.parse` to say.
 */

/** A value's place in its text: from `start` up to, not including, `end`, in bytes. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Thrown where a text cannot be JSON. The same one each time: it is control flow, and a stack would cost more than the scan. */
export const Malformed: Error = new Error("Not a JSON text")

export const quote = 0x22
export const openBracket = 0x5b
export const openBrace = 0x7b
export const comma = 0x2c
export const closeBracket = 0x5d
const backslash = 0x5c
const colon = 0x3a
const closeBrace = 0x7d

/** The first place at or after `at` that is not white space. */
export const skipSpace = (text: Buffer, at: number): number => {
  for (;;) {
    const code = text[at]
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at++
  }
}

/** Strings shorter than this are read byte by byte; to look further is left to native code, which takes a while to call. */
const nearBytes = 48

/** The place behind the string that opens at `at`. */
export const skipString = (text: Buffer, at: number): number => {
  const near = Math.min(text.length, at + nearBytes)
  let end = at + 1
  for (; end < near; end++) {
    const code = text[end]
    if (code === quote) return end + 1
    if (code === backslash) end++
  }
  for (end = text.indexOf(quote, end); end !== -1; end = text.indexOf(quote, end + 1)) {
    let escapes = end - 1
    while (text[escapes] === backslash) escapes--
    // An odd number of backslashes before it escapes the quote.
    if ((end - escapes) % 2 === 1) return end + 1
  }
  throw Malformed
}

/** The place behind the value that starts at `at`. Nesting is counted, not recursed into. */
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

/** The place behind a number, `true`, `false` or `null`: at the first thing that can follow one. */
const skipScalar = (text: Buffer, at: number): number => {
  const start = at
  for (; at < text.length; at++) {
    const code = text[at]!
    if (code <= 0x20 || code === comma || code === closeBrace || code === closeBracket) break
  }
  if (at === start) throw Malformed
  return at
}

/** Behind what follows a value in an object or array: past the comma, or at the bracket that closes it. */
export const skipComma = (text: Buffer, at: number, close: number): number => {
  at = skipSpace(text, at)
  if (text[at] === comma) return skipSpace(text, at + 1)
  if (text[at] === close) return at
  throw Malformed
}

/** Called for each member with where its key opens, where it ends, and where its value starts; answers the place behind the value. */
export type VisitMember = (keyStart: number, keyEnd: number, valueStart: number) => number

/** Visits the members of the object that opens at `at`, in order, duplicates too. Answers the place behind it. */
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

/** Called for each element with where it starts; answers the place behind it. */
export type VisitElement = (start: number) => number

/** Visits the elements of the array that opens at `at`, in order. Answers the place behind it. */
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

/** Where each member of the object, or element of the array, at `at` stands; of duplicate keys the last. */
export const children = (text: Buffer, at: number): ReadonlyMap<string, Span> => {
  const found = new Map<string, Span>()
  if (text[at] === openBrace) {
    scanMembers(text, at, (keyStart, keyEnd, start) => {
      const end = skipValue(text, start)
      found.set(keyAt(text, keyStart, keyEnd), { start, end })
      return end
    })
  } else if (text[at] === openBracket) {
    let index = 0
    scanElements(text, at, (start) => {
      const end = skipValue(text, start)
      found.set(String(index++), { start, end })
      return end
    })
  }
  return found
}

/** Where the value at a path of keys and indexes stands; of duplicate keys the last, as `JSON.parse` has it. */
export const locate = (text: Buffer, path: ReadonlyArray<string | number>): Span | undefined => {
  const start = skipSpace(text, 0)
  let span: Span | undefined = { start, end: skipValue(text, start) }
  for (const step of path) {
    span = children(text, span.start).get(String(step))
    if (span === undefined) return undefined
  }
  return span
}
