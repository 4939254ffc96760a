/** Patterns as one program: states between which characters lead, of which some end a match. */
import * as CharacterSet from "./CharacterSet.ts"
import type { Assertion, Pattern } from "./Pattern.ts"

/** What a state leads to without a character, or with one of a class. */
type State =
  | { readonly type: "match" }
  | { readonly type: "fork"; readonly to: ReadonlyArray<number> }
  | { readonly type: "assert"; readonly assertion: Assertion; readonly to: number }
  | { readonly type: "class"; readonly isIn: Uint8Array; readonly to: number }

/** What stands before or after a place: nothing, a character of a word, or another one. */
export const edge = 0
export const inWord = 1
export const beyondWord = 2

/** States of a program at most. */
export const maxStates = 20_000

export class TooLarge extends Error {}

export interface Program {
  readonly states: ReadonlyArray<State>
  readonly start: number
  /** The class of each code unit. Characters of a class are alike to all patterns. */
  readonly classOf: Uint8Array
  readonly classes: number
  /** Whether the characters of a class belong to words. */
  readonly kindOf: (characterClass: number) => number
}

const setsIn = function* (pattern: Pattern): Generator<CharacterSet.CharacterSet> {
  if (pattern.type === "set") yield pattern.set
  else if (pattern.type === "repeat") yield* setsIn(pattern.part)
  else if (pattern.type !== "assert") for (const part of pattern.parts) yield* setsIn(part)
}

/** Between which code units some set begins or ends. */
const boundsOf = (sets: Iterable<CharacterSet.CharacterSet>): ReadonlyArray<number> => {
  const bounds = new Set([0])
  for (const set of sets) for (const [from, to] of set) bounds.add(from).add(to + 1)
  bounds.delete(0x10000)
  return [...bounds].sort((a, b) => a - b)
}

/** Characters that all sets hold or lack together are of one class. */
const classesOf = (patterns: ReadonlyArray<Pattern>) => {
  const all = [CharacterSet.word, ...patterns.flatMap((pattern) => [...setsIn(pattern)])]
  const sets = [...new Map(all.map((set) => [String(set), set])).values()]
  const bounds = boundsOf(sets)
  const bySets = new Map<string, number>()
  const firsts: Array<number> = []
  const classOf = new Uint8Array(0x10000)
  for (const [n, from] of bounds.entries()) {
    const key = sets.map((set) => (CharacterSet.has(set, from) ? 1 : 0)).join("")
    if (!bySets.has(key)) firsts.push(from)
    const found = bySets.get(key) ?? bySets.size
    if (found > 250) throw new TooLarge("the patterns tell more kinds of characters apart than can be held")
    bySets.set(key, found)
    classOf.fill(found, from, bounds[n + 1] ?? 0x10000)
  }
  return { classOf, firsts }
}

export const of = (patterns: ReadonlyArray<Pattern>): Program => {
  const { classOf, firsts } = classesOf(patterns)
  const states: Array<State> = [{ type: "match" }]
  const tables = new Map<CharacterSet.CharacterSet, Uint8Array>()
  const tableOf = (set: CharacterSet.CharacterSet): Uint8Array => {
    const known = tables.get(set) ?? Uint8Array.from(firsts, (code) => (CharacterSet.has(set, code) ? 1 : 0))
    tables.set(set, known)
    return known
  }
  const add = (state: State): number => {
    if (states.length >= maxStates) throw new TooLarge("its repetitions, written out, are too long")
    return states.push(state) - 1
  }
  let compiled = 0
  /** The state at which a pattern begins that leads to another one. */
  const compile = (pattern: Pattern, to: number): number => {
    // Empty groups can be repeated as often without a state.
    if (++compiled > 4 * maxStates) throw new TooLarge("its repetitions, written out, are too long")
    switch (pattern.type) {
      case "set":
        return add({ type: "class", isIn: tableOf(pattern.set), to })
      case "assert":
        return add({ type: "assert", assertion: pattern.assertion, to })
      case "all":
        return pattern.parts.reduceRight((next, part) => compile(part, next), to)
      case "either":
        return add({ type: "fork", to: pattern.parts.map((part) => compile(part, to)) })
      case "repeat":
        return repeat(pattern.part, pattern.least, pattern.most, to)
    }
  }
  const repeat = (part: Pattern, least: number, most: number, to: number): number => {
    let next = to
    if (most === Infinity) {
      const loop: Array<number> = [to]
      next = add({ type: "fork", to: loop })
      loop.push(compile(part, next))
    } else {
      for (let n = least; n < most; n++) next = add({ type: "fork", to: [to, compile(part, next)] })
    }
    for (let n = 0; n < least; n++) next = compile(part, next)
    return next
  }
  const start = add({ type: "fork", to: patterns.map((pattern) => compile(pattern, 0)) })
  const inWords = tableOf(CharacterSet.word)
  const kindOf = (characterClass: number) => (inWords[characterClass] === 1 ? inWord : beyondWord)
  return { states, start, classOf, classes: firsts.length, kindOf }
}
