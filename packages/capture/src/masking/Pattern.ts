/**
 * Reads regular expressions of the kind whose matches are found in time linear in the text: without backreferences, without looking
 * around, and without counting more than a program can hold. What it understands means what it means in JavaScript.
 */
import * as CharacterSet from "./CharacterSet.ts"

export type Assertion = "start" | "end" | "boundary" | "no-boundary"

export type Pattern =
  | { readonly type: "set"; readonly set: CharacterSet.CharacterSet }
  | { readonly type: "assert"; readonly assertion: Assertion }
  | { readonly type: "all"; readonly parts: ReadonlyArray<Pattern> }
  | { readonly type: "either"; readonly parts: ReadonlyArray<Pattern> }
  | { readonly type: "repeat"; readonly part: Pattern; readonly least: number; readonly most: number }

/** More cannot be counted. */
const maxCount = 1_000

/** Groups within groups. */
const maxDepth = 100

const classes: Readonly<Record<string, CharacterSet.CharacterSet>> = {
  d: CharacterSet.digits,
  D: CharacterSet.not(CharacterSet.digits),
  w: CharacterSet.word,
  W: CharacterSet.not(CharacterSet.word),
  s: CharacterSet.space,
  S: CharacterSet.not(CharacterSet.space)
}

const controls: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f", v: "\v", 0: "\0" }

const assertions: Readonly<Record<string, Assertion>> = { b: "boundary", B: "no-boundary" }

const single = (code: number): CharacterSet.CharacterSet => [[code, code]]

/** Throws an `Error` that says what is wrong. */
export const parse = (text: string): Pattern => new Parser(text).parse()

class Parser {
  readonly #text: string
  #at = 0
  #depth = 0
  #isCaseless = false

  constructor(text: string) {
    this.#text = text
  }

  parse(): Pattern {
    if (this.#takes("(?i)")) this.#isCaseless = true
    const pattern = this.#either()
    if (this.#at < this.#text.length) throw new Error("a parenthesis closes what none has opened")
    return pattern
  }

  #takes(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  get #next(): string {
    return this.#text[this.#at] ?? ""
  }

  #either(): Pattern {
    const parts = [this.#all()]
    while (this.#takes("|")) parts.push(this.#all())
    return parts.length === 1 ? parts[0]! : { type: "either", parts }
  }

  #all(): Pattern {
    const parts: Array<Pattern> = []
    while (this.#next !== "" && this.#next !== "|" && this.#next !== ")") parts.push(this.#repeated(this.#one()))
    return parts.length === 1 ? parts[0]! : { type: "all", parts }
  }

  #repeated(part: Pattern): Pattern {
    const count = this.#count()
    if (count === undefined) return part
    const [least, most] = count
    if (part.type === "assert") throw new Error("nothing precedes a repetition")
    if (this.#next === "?")
      throw new Error("a repetition cannot be lazy: all that can match is masked; leave out the ? after it")
    if (/^[*+{]/.test(this.#next)) throw new Error("a repetition follows another one; put the first into parentheses")
    return { type: "repeat", part, least, most }
  }

  #count(): readonly [least: number, most: number] | undefined {
    if (this.#takes("*")) return [0, Infinity]
    if (this.#takes("+")) return [1, Infinity]
    if (this.#takes("?")) return [0, 1]
    const [whole, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(this.#text.slice(this.#at, this.#at + 32)) ?? []
    if (whole === undefined) return undefined
    this.#at += whole.length
    const from = Number(least)
    const last = most === "" ? Infinity : Number(most)
    const to = comma === "" ? from : last
    if (from > to) throw new Error(`${whole} ends before it begins`)
    if (from > maxCount || (to > maxCount && to !== Infinity)) throw new Error(`${whole} counts beyond ${maxCount}`)
    return [from, to]
  }

  #one(): Pattern {
    const character = this.#next
    this.#at++
    if (character === "(") return this.#group()
    if (character === "[") return { type: "set", set: this.#set() }
    if (character === ".") return { type: "set", set: CharacterSet.not(CharacterSet.lineBreaks) }
    if (character === "^") return { type: "assert", assertion: "start" }
    if (character === "$") return { type: "assert", assertion: "end" }
    if (/[*+?]/.test(character)) throw new Error("nothing precedes a repetition")
    if (character === "\\") {
      const assertion = assertions[this.#next]
      if (assertion === undefined) return { type: "set", set: this.#cased(this.#escape()) }
      this.#at++
      return { type: "assert", assertion }
    }
    return { type: "set", set: this.#cased(single(character.charCodeAt(0))) }
  }

  #cased(set: CharacterSet.CharacterSet): CharacterSet.CharacterSet {
    return this.#isCaseless ? CharacterSet.inBothCases(set) : set
  }

  #group(): Pattern {
    if (/^\?<?[=!]/.test(this.#text.slice(this.#at))) throw new Error("a pattern cannot look around")
    const [opening] = /^\?(?::|<\w+>)/.exec(this.#text.slice(this.#at)) ?? [""]
    this.#at += opening.length
    if (this.#next === "?") throw new Error("a group begins with ?, which only (?: and, at the beginning, (?i) may")
    if (++this.#depth > maxDepth) throw new Error(`more than ${maxDepth} groups are within each other`)
    const pattern = this.#either()
    this.#depth--
    if (!this.#takes(")")) throw new Error("a parenthesis is not closed")
    return pattern
  }

  /** What follows a backslash. */
  #escape(): CharacterSet.CharacterSet {
    const character = this.#next
    this.#at++
    if (character === "") throw new Error("nothing follows the backslash at the end")
    if (Object.hasOwn(classes, character)) return classes[character]!
    if (Object.hasOwn(controls, character)) return single(controls[character]!.charCodeAt(0))
    if (character === "x" || character === "u") {
      const length = character === "x" ? 2 : 4
      const hex = this.#text.slice(this.#at, this.#at + length)
      if (!new RegExp(`^[\\da-f]{${length}}$`, "i").test(hex))
        throw new Error(`\\${character} needs ${length} hexadecimal digits`)
      this.#at += length
      return single(Number.parseInt(hex, 16))
    }
    if (/\d|k/.test(character)) throw new Error("a pattern cannot refer to one of its groups")
    if (/[A-Za-z]/.test(character)) throw new Error(`\\${character} is not known`)
    return single(character.charCodeAt(0))
  }

  #set(): CharacterSet.CharacterSet {
    const isNegated = this.#takes("^")
    const ranges: Array<readonly [number, number]> = []
    while (!this.#takes("]")) {
      if (this.#next === "") throw new Error("a bracket is not closed")
      const set = this.#ofSet()
      const isRange = this.#next === "-" && this.#text[this.#at + 1] !== "]" && this.#text[this.#at + 1] !== undefined
      if (!isRange) {
        ranges.push(...set)
        continue
      }
      this.#at++
      const to = this.#ofSet()
      if (!isOne(set) || !isOne(to)) throw new Error("a range in brackets is not between two characters")
      if (to[0]![0] < set[0]![0]) throw new Error("a range in brackets ends before it begins")
      ranges.push([set[0]![0], to[0]![0]])
    }
    const set = this.#cased(CharacterSet.of(ranges))
    return isNegated ? CharacterSet.not(set) : set
  }

  #ofSet(): CharacterSet.CharacterSet {
    const code = this.#text.charCodeAt(this.#at++)
    if (code >= 0xd800 && code <= 0xdfff) throw new Error("brackets cannot hold characters beyond U+FFFF")
    if (code !== 0x5c) return single(code)
    if (this.#takes("b")) return single(8)
    return this.#escape()
  }
}

const isOne = (set: CharacterSet.CharacterSet): boolean => set.length === 1 && set[0]![0] === set[0]![1]
