/**
 * Finds where values stand in a JSON text, without parsing them. One pass, at memory speed: strings are skipped with
 * `indexOf`, and nothing is allocated but the keys that are looked at.
 *
 * Every function here takes a text that is known to be valid JSON; on another the answer means nothing.
 */

/** A value's place in its text: from `start` up to, not including, `end`, in UTF-16 units. */
export interface Span {
  readonly start: number
  readonly end: number
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** The first place at or after `at` that is not white space. */
export const skipSpace = (text: string, at: number): number => {
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

/** The place behind the string that opens at `at`. */
const skipString = (text: string, at: number): number => {
  for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
    let escapes = end - 1
    while (text.charCodeAt(escapes) === backslash) escapes--
    // An odd number of backslashes before it escapes the quote.
    if ((end - escapes) % 2 === 1) return end + 1
  }
}

/** The place behind the value that starts at `at`. Nesting is counted, not recursed into. */
export const skipValue = (text: string, at: number): number => {
  const first = text.charCodeAt(at)
  if (first === quote) return skipString(text, at)
  if (first !== openBrace && first !== openBracket) return skipScalar(text, at)
  let depth = 0
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = skipString(text, at)
      continue
    }
    at++
    if (code === openBrace || code === openBracket) depth++
    else if ((code === closeBrace || code === closeBracket) && --depth === 0) return at
  }
}

/** The place behind a number, `true`, `false` or `null`: at the first thing that can follow one. */
const skipScalar = (text: string, at: number): number => {
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= 0x20 || code === comma || code === closeBrace || code === closeBracket) break
  }
  return at
}

/** Called for each member with its key, unescaped, and where its value starts; answers the place behind the value. */
export type VisitMember = (key: string, valueStart: number) => number

/** Visits the members of the object that opens at `at`, in order, duplicates too. Answers the place behind it. */
export const scanMembers = (text: string, at: number, visit: VisitMember): number => {
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) !== closeBrace) {
    const keyEnd = skipString(text, at)
    const raw = text.slice(at + 1, keyEnd - 1)
    const key = raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw
    const colon = skipSpace(text, keyEnd)
    at = skipSpace(text, visit(key, skipSpace(text, colon + 1)))
    if (text.charCodeAt(at) === comma) at = skipSpace(text, at + 1)
  }
  return at + 1
}

export const isObjectAt = (text: string, at: number): boolean => text.charCodeAt(at) === openBrace

/** Where each member of the object, or element of the array, at `at` stands; of duplicate keys the last. */
export const children = (text: string, at: number): ReadonlyMap<string, Span> => {
  const found = new Map<string, Span>()
  const visit = (key: string, start: number): number => {
    const end = skipValue(text, start)
    found.set(key, { start, end })
    return end
  }
  if (isObjectAt(text, at)) scanMembers(text, at, visit)
  else if (text.charCodeAt(at) === openBracket) scanElements(text, at, visit)
  return found
}

/** Visits the elements of the array that opens at `at`, by their index. Answers the place behind it. */
const scanElements = (text: string, at: number, visit: VisitMember): number => {
  at = skipSpace(text, at + 1)
  for (let index = 0; text.charCodeAt(at) !== closeBracket; index++) {
    at = skipSpace(text, visit(String(index), at))
    if (text.charCodeAt(at) === comma) at = skipSpace(text, at + 1)
  }
  return at + 1
}

/** Where the value at a path of keys and indexes stands; of duplicate keys the last, as `JSON.parse` has it. */
export const locate = (text: string, path: ReadonlyArray<string | number>): Span | undefined => {
  const start = skipSpace(text, 0)
  let span: Span | undefined = { start, end: skipValue(text, start) }
  for (const step of path) {
    span = children(text, span.start).get(String(step))
    if (span === undefined) return undefined
  }
  return span
}
