/**
 * Walks a JSON text in steps of bounded size, without recursion. All state is in the walk, so that its owner decides when the
 * next step is due, and where.
 */
import { JsonNumber } from "./JsonNumber.ts"
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  Malformed,
  openBrace,
  openBracket,
  quote,
  skipScalar,
  skipSpace,
  skipString,
  skipValue
} from "./Scan.ts"
import { longFromBytes, type Steps, stepBytes } from "./Steps.ts"

/** What a visitor answers for a value whose contents it does not visit. */
export const skip = -1

/** Is told of a value, and of all values in those objects and arrays that it enters. */
export interface Visitor {
  /**
   * A value begins at `start`; its key is from `keyStart` to `keyEnd`, if it is in an object. Returns `skip`, or, to enter an
   * object or array, the offset at which to continue in it: `start + 1`, or that after one of its elements.
   */
  readonly begin: (start: number, keyStart: number, keyEnd: number) => number
  /** The last value that began and has not ended ends before `end`. */
  readonly end: (end: number) => void
}

/** What comes next. White space may precede it, except in strings and numbers. */
const aValue = 0
const aFirst = 1
const aKey = 2
const aColon = 3
const afterValue = 4
const restOfKey = 5
const restOfString = 6
const restOfNumber = 7
const nothing = 8

const literals: Readonly<Record<number, Buffer>> = Object.fromEntries(
  ["true", "false", "null"].map((literal) => [literal.charCodeAt(0), Buffer.from(literal)])
)

const isHex = (code: number | undefined): boolean =>
  code !== undefined &&
  ((code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66))

/** Bytes that mean themselves in a string. A table, because strings are most of a long text. */
const isOrdinary = new Uint8Array(256).fill(1, 0x20)
isOrdinary[quote] = 0
isOrdinary[backslash] = 0

/** The offset of the first byte, from `at` up to `limit`, that means something else. Four at a time is twice as fast. */
const skipOrdinary = (text: Buffer, at: number, limit: number): number => {
  const table = isOrdinary
  const end = limit - 4
  while (
    at <= end &&
    (table[text[at]!]! & table[text[at + 1]!]! & table[text[at + 2]!]! & table[text[at + 3]!]!) === 1
  ) {
    at += 4
  }
  while (at < limit && table[text[at]!] === 1) at++
  return at
}

const shortEscapes = new Uint8Array(256)
for (const code of Buffer.from('"\\/bfnrt')) shortEscapes[code] = 1

/** The size of the escape at a backslash (bytes); 0 if it is none. */
const escapeBytes = (text: Buffer, at: number): number => {
  const code = text[at + 1]
  if (code === undefined) return 0
  if (shortEscapes[code] === 1) return 2
  const isUnicode = code === 0x75 && [2, 3, 4, 5].every((digit) => isHex(text[at + digit]))
  return isUnicode ? 6 : 0
}

/**
 * `isChecked` walks accept exactly what `JSON.parse` accepts, if the text is UTF-8, and take steps of any size. Others are
 * faster: they leave out what is skipped, so that they accept more, and may take a whole text in one step.
 *
 * The walk ends with the value; what follows it is not looked at.
 */
export class JsonWalk {
  readonly #text: Buffer
  readonly #visitor: Visitor
  readonly #isChecked: boolean
  #at: number
  #expected = aValue
  #keyStart = -1
  #keyEnd = -1
  readonly #number = new JsonNumber()
  /** How many objects and arrays are around the current position, and how many of them were entered. */
  #depth = 0
  #entered = 0
  /** A bit for each of them: 1 for an object. */
  #kinds = new Uint8Array(8)

  constructor(text: Buffer, start: number, visitor: Visitor, isChecked: boolean) {
    this.#text = text
    this.#at = start
    this.#visitor = visitor
    this.#isChecked = isChecked
  }

  /** The offset up to which the text was read. After `Malformed` was thrown by a checked walk, that of the error. */
  get at(): number {
    return this.#at
  }

  /** Reads about `bytes` more bytes. Returns whether the value has ended. Throws `Malformed`. */
  step(bytes: number): boolean {
    const text = this.#text
    const limit = Math.min(text.length, this.#at + bytes)
    while (this.#at < limit) {
      const at = this.#at
      const code = text[at]!
      const expected = this.#expected
      if (expected >= restOfKey) {
        if (expected === nothing) return true
        this.#rest(limit)
      } else if (code <= 0x20) {
        if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) throw Malformed
        this.#at++
      } else if (expected === afterValue) {
        if (code === comma) this.#afterComma()
        else this.#close(code)
      } else if (expected === aColon) {
        if (code !== colon) throw Malformed
        this.#expected = aValue
        this.#at++
      } else if (expected === aFirst && (code === closeBrace || code === closeBracket)) {
        this.#close(code)
      } else if (expected === aKey || (expected === aFirst && this.#isInObject())) {
        this.#key(code)
      } else {
        this.#value(code)
      }
    }
    if (limit < text.length) return this.#expected === nothing
    return this.#atEnd()
  }

  /** At the end of the text, where a number ends that is not within anything. */
  #atEnd(): boolean {
    if (this.#expected === restOfNumber && this.#depth === 0) this.#endNumber()
    if (this.#expected !== nothing) throw Malformed
    return true
  }

  #isInObject(): boolean {
    const top = this.#depth - 1
    return ((this.#kinds[top >>> 3]! >>> (top & 7)) & 1) === 1
  }

  #open(isObject: boolean): void {
    const top = this.#depth++
    const index = top >>> 3
    if (index === this.#kinds.length) {
      const kinds = new Uint8Array(2 * index)
      kinds.set(this.#kinds)
      this.#kinds = kinds
    }
    const bit = 1 << (top & 7)
    this.#kinds[index] = isObject ? this.#kinds[index]! | bit : this.#kinds[index]! & ~bit
    this.#expected = aFirst
  }

  #close(code: number): void {
    if (this.#depth === 0 || code !== (this.#isInObject() ? closeBrace : closeBracket)) throw Malformed
    this.#depth--
    if (this.#entered > this.#depth) this.#entered = this.#depth
    this.#at++
    this.#ended()
  }

  #ended(): void {
    if (this.#depth === this.#entered) this.#visitor.end(this.#at)
    if (this.#depth === 0) this.#expected = nothing
    // Nearly always there is no white space before it.
    else if (this.#text[this.#at] === comma) this.#afterComma()
    else this.#expected = afterValue
  }

  #afterComma(): void {
    this.#expected = this.#isInObject() ? aKey : aValue
    this.#at++
  }

  #afterKey(end: number): void {
    this.#keyEnd = end
    const isColon = this.#text[end] === colon
    this.#at = isColon ? end + 1 : end
    this.#expected = isColon ? aValue : aColon
  }

  #key(code: number): void {
    if (code !== quote) throw Malformed
    this.#keyStart = this.#at
    if (this.#isChecked) {
      this.#at++
      this.#expected = restOfKey
    } else {
      this.#afterKey(skipString(this.#text, this.#at))
    }
  }

  #value(code: number): void {
    const start = this.#at
    const isVisited = this.#depth === this.#entered
    const next = isVisited ? this.#visitor.begin(start, this.#keyStart, this.#keyEnd) : skip
    if (code === openBrace || code === openBracket) {
      if (next === skip && !this.#isChecked) {
        this.#at = skipValue(this.#text, start)
        this.#ended()
        return
      }
      this.#open(code === openBrace)
      this.#at++
      if (next === skip) return
      this.#entered = this.#depth
      if (next === this.#at) return
      this.#at = next
      this.#expected = afterValue
    } else if (!this.#isChecked) {
      this.#at = code === quote ? skipString(this.#text, start) : skipScalar(this.#text, start)
      this.#ended()
    } else if (code === quote) {
      this.#at++
      this.#expected = restOfString
    } else {
      this.#scalar(code)
    }
  }

  #scalar(code: number): void {
    const literal = literals[code]
    if (literal === undefined) {
      if (!this.#number.begin(code)) throw Malformed
      this.#at++
      this.#expected = restOfNumber
      return
    }
    for (const expected of literal) {
      if (this.#text[this.#at] !== expected) throw Malformed
      this.#at++
    }
    this.#ended()
  }

  /** Continues a string or a number. */
  #rest(limit: number): void {
    if (this.#expected === restOfNumber) {
      if (this.#isNumberOver(limit)) this.#endNumber()
    } else if (this.#isStringOver(limit)) {
      if (this.#expected === restOfString) return this.#ended()
      this.#afterKey(this.#at)
    }
  }

  #isStringOver(limit: number): boolean {
    const text = this.#text
    let at = this.#at
    for (;;) {
      at = skipOrdinary(text, at, limit)
      if (at >= limit) break
      const code = text[at]
      if (code === quote) {
        this.#at = at + 1
        return true
      }
      const bytes = code === backslash ? escapeBytes(text, at) : 0
      if (bytes === 0) break
      at += bytes
    }
    this.#at = at
    if (at < limit) throw Malformed
    return false
  }

  #isNumberOver(limit: number): boolean {
    this.#at = this.#number.skip(this.#text, this.#at, limit)
    return this.#at < limit
  }

  #endNumber(): void {
    if (!this.#number.isComplete) throw Malformed
    this.#ended()
  }
}

/** Visits the value that starts at `start`, in steps if the text is long. Throws `Malformed`. */
export function* walk(text: Buffer, start: number, visitor: Visitor): Steps<void> {
  const isLong = text.length >= longFromBytes
  const walk = new JsonWalk(text, start, visitor, isLong)
  while (!walk.step(isLong ? stepBytes : text.length)) yield
}

/**
 * Visits the one value that a text may consist of, in steps. Returns the offset of the first byte that cannot stand there;
 * undefined if the text, which is UTF-8, is JSON.
 */
export function* check(text: Buffer, visitor: Visitor): Steps<number | undefined> {
  const walk = new JsonWalk(text, 0, visitor, true)
  try {
    while (!walk.step(stepBytes)) yield
  } catch (error) {
    if (error !== Malformed) throw error
    return walk.at
  }
  const end = skipSpace(text, walk.at)
  return end < text.length ? end : undefined
}
