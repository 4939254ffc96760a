/** Masks what a JSON text has at the places of a table. The rest of it stays as it came. */
import type { Automaton } from "./Automaton.ts"
import { isNamed, scheme } from "./Credentials.ts"
import * as JsonTexts from "./JsonTexts.ts"
import { replaced, type Masked } from "./Masked.ts"
import * as Matches from "./Matches.ts"
import { each, ofBody, type Place } from "./Places.ts"
import { type Steps, stepBytes } from "./Steps.ts"

/** What is known of the elements with which a conversation begins. Bounds are those of what is masked in them. */
export interface Known {
  /** How far those that begin at a place are known. */
  readonly from: (start: number) => { readonly end: number; readonly bounds: ReadonlyArray<number> } | undefined
  readonly passed: (start: number, end: number, bounds: ReadonlyArray<number>) => void
}

export interface MaskedBody extends Masked {
  /** The texts that were masked: an answer may repeat them. */
  readonly values: ReadonlyArray<string>
}

/** The body of a request or an answer, which is JSON or breaks off: then what has come of it is masked. */
export function* masked(text: Uint8Array, place: Place = ofBody): Steps<MaskedBody> {
  const found = new FoundParts(text)
  yield* found.visit(place, "")
  return { ...(yield* replaced(text, found)), values: found.values }
}

/** A JSON text without what patterns match in its texts, at the places of a table. */
export function* withoutMatches(text: Uint8Array, patterns: Automaton, place: Place, known?: Known): Steps<Masked> {
  const found = new FoundParts(text, patterns, known)
  yield* found.visit(place, "")
  return found.bounds.length === 0 ? { text, count: 0 } : yield* replaced(text, found)
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
const firstLetter = 0x61

/** What is nested deeper below a place is masked as a whole. */
const maxLevels = 64

/** A longer name is none of the table, however it is written (bytes). */
const longestName = 512

const decoder = new TextDecoder()

class FoundParts {
  readonly bounds: Array<number> = []
  readonly unquoted = new Set<number>()
  readonly values: Array<string> = []
  readonly #text: Uint8Array
  readonly #patterns: Automaton | undefined
  readonly #known: Known | undefined
  readonly #budget: Matches.Budget
  #at = 0
  #stepAt = stepBytes

  constructor(text: Uint8Array, patterns?: Automaton, known?: Known) {
    this.#text = text
    this.#patterns = patterns
    this.#known = known
    this.#budget = Matches.budgetFor(text.length)
  }

  /** Passes the value that begins next, and masks what the table says of it. `name` is that of its field. */
  *visit(place: Place | undefined, name: string, level = 0): Steps<void> {
    const first = this.#next()
    if (place === undefined) return yield* this.#skip()
    if (place === "texts") return yield* this.#pass(true)
    if (place === "inputs") return yield* this.#inputs()
    const isMasked = place === "named" && (isNamed(name) || this.#hasScheme())
    if (isMasked || place === "all" || level > maxLevels) return yield* this.#mask()
    const isOpen = first === openBrace || first === openBracket
    yield* isOpen ? this.#visitWithin(place, name, level) : this.#skip()
  }

  *#visitWithin(place: Exclude<Place, "all" | "texts" | "inputs">, ofList: string, level: number): Steps<void> {
    const isObject = this.#text[this.#at++] === openBrace
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (next === closeBrace || next === closeBracket) return void this.#at++
      if (next === comma || next === colon) {
        this.#at++
        continue
      }
      // Those of a list have its name.
      const name = isObject ? this.#name() : ofList
      let inner: Place | undefined = place
      if (place !== "named") inner = place[isObject && Object.hasOwn(place, name) ? name : each]
      yield* this.visit(inner, name, level + 1)
    }
  }

  /** The name of a field, of which the value begins next. */
  #name(): string {
    const from = this.#at
    this.#skipToken()
    const to = this.#at
    if (this.#next() === colon) this.#at++
    return to - from > longestName ? "" : textOf(this.#text.subarray(from, to))
  }

  /** The byte at which the next token begins. */
  #next(): number | undefined {
    while (this.#text[this.#at]! <= 0x20) this.#at++
    return this.#text[this.#at]
  }

  /** Passes a text, or what stands between two of them without white space. */
  #skipToken(): void {
    const text = this.#text
    if (text[this.#at] === quote) {
      let end = text.indexOf(quote, this.#at + 1)
      while (end !== -1 && isEscaped(text, end)) end = text.indexOf(quote, end + 1)
      this.#at = end === -1 ? text.length : end + 1
    } else {
      this.#at++
      while (this.#at < text.length && !endsToken(text[this.#at]!)) this.#at++
    }
  }

  *#skip(): Steps<void> {
    yield* this.#pass(false)
  }

  /** Passes a value, and looks into its texts. */
  *#pass(areLooked: boolean): Steps<void> {
    const text = this.#text
    for (let depth = 0; this.#next() !== undefined;) {
      const byte = text[this.#at]!
      if (byte === openBrace || byte === openBracket) depth++
      if (byte === closeBrace || byte === closeBracket) depth--
      // The end of what this is in.
      if (depth < 0) return
      const from = this.#at
      if (endsToken(byte) && byte !== quote) this.#at++
      else this.#skipToken()
      if (areLooked && byte === quote && this.#mayMatch(from + 1, this.#at - 1)) {
        yield* this.#look(from + 1, this.#at - 1)
      }
      if (this.#at >= this.#stepAt) {
        this.#stepAt = this.#at + stepBytes
        yield
      }
      if (depth === 0) return
    }
  }

  /** Of the arrays in the inputs, the elements with which they begin may be known. */
  *#inputs(): Steps<void> {
    if (this.#text[this.#at] !== openBrace) return yield* this.#pass(true)
    this.#at++
    for (
      let next = this.#next();
      next !== undefined && next !== closeBrace && next !== closeBracket;
      next = this.#next()
    ) {
      if (next === openBracket) yield* this.#conversation()
      else if (next === comma || next === colon) this.#at++
      else yield* this.#pass(true)
    }
    if (this.#at < this.#text.length) this.#at++
  }

  *#conversation(): Steps<void> {
    this.#at++
    this.#next()
    const start = this.#at
    const before = this.bounds.length
    const known = this.#known?.from(start)
    if (known !== undefined) {
      this.#at = known.end
      for (const bound of known.bounds) this.bounds.push(bound)
    }
    let end = this.#at
    for (
      let next = this.#next();
      next !== undefined && next !== closeBracket && next !== closeBrace;
      next = this.#next()
    ) {
      if (next === comma || next === colon) this.#at++
      else {
        yield* this.#pass(true)
        end = this.#at
      }
    }
    if (this.#at < this.#text.length) this.#at++
    this.#known?.passed(start, end, this.bounds.slice(before))
  }

  #mayMatch(from: number, to: number): boolean {
    const patterns = this.#patterns!
    const before = patterns.work
    const isMatch = patterns.matchesPlain(this.#text, from, to, this.#budget.left)
    this.#budget.left -= patterns.work - before
    return isMatch !== false
  }

  /** Looks into a text, which stands between these quotes. */
  *#look(from: number, to: number): Steps<void> {
    const patterns = this.#patterns!
    const written = this.#text.subarray(from, to)
    const bounds = yield* Matches.find(patterns, textOf(this.#text.subarray(from - 1, to + 1)), this.#budget)
    for (const bound of JsonTexts.placesOf(written, bounds)) this.bounds.push(from + bound)
  }

  #hasScheme(): boolean {
    if (this.#text[this.#at] !== quote) return false
    return scheme.test(decoder.decode(this.#text.subarray(this.#at + 1, this.#at + 64)))
  }

  /** What is null, true or false is no credential, and neither is an empty text. */
  *#mask(): Steps<void> {
    const text = this.#text
    const from = this.#at
    const first = text[from]!
    yield* this.#skip()
    const to = this.#at
    if (first === quote) {
      const isWhole = to - from > 1 && text[to - 1] === quote && !isEscaped(text, to - 1)
      const end = isWhole ? to - 1 : to
      if (end > from + 1) {
        this.bounds.push(from + 1, end)
        this.values.push(textOf(text.subarray(from, to)))
      }
    } else if (first < firstLetter || first === openBrace) {
      this.bounds.push(from, to)
      this.unquoted.add(from)
    }
  }
}

const endsToken = (byte: number): boolean =>
  byte <= 0x20 ||
  byte === quote ||
  byte === comma ||
  byte === colon ||
  byte === openBrace ||
  byte === closeBrace ||
  byte === openBracket ||
  byte === closeBracket

const isEscaped = (text: Uint8Array, at: number): boolean => {
  let from = at
  while (text[from - 1] === backslash) from--
  return (at - from) % 2 === 1
}

/** What a text in quotes stands for; as it is written where that breaks off. */
const textOf = (written: Uint8Array): string => {
  const text = decoder.decode(written)
  try {
    return String(JSON.parse(text))
  } catch {
    return text.slice(1)
  }
}
