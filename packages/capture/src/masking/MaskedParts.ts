/** Which parts of a JSON text a mask takes the place of, so that the text stays JSON. */
import type { Steps } from "./Steps.ts"

/** How many parts, or texts between quotes, are passed in a step. */
const partsInStep = 4096

/** What JSON may have outside of its quotes: numbers, the letters of `true`, `false` and `null`, and what stands between them. */
const outside = /^[-+.\d\s,:[\]{}Eaeflnrstu]+$/

export interface Parts {
  /** Where each part begins and ends, in turn: in the order of the text, and none overlaps another. */
  readonly bounds: ReadonlyArray<number>
  /** The beginnings of those that have no quotes around them, so that their masks stand in quotes. */
  readonly unquoted: ReadonlySet<number>
}

/** The parts to mask where these `bounds` are not to be seen, which are in the order of the text. */
export function* of(text: Uint8Array, bounds: ReadonlyArray<number>): Steps<Parts> {
  const areInQuotes = yield* haveLetters(text, bounds)
  return areInQuotes ? { bounds, unquoted: new Set<number>() } : yield* withNumbers(text, bounds)
}

/** Whether each part has what stands in quotes only. */
function* haveLetters(text: Uint8Array, bounds: ReadonlyArray<number>): Steps<boolean> {
  for (let at = 0; at < bounds.length; at += 2) {
    const [from, to] = [bounds[at]!, bounds[at + 1]!]
    // Its beginning tells: a longer one is looked at again.
    if (outside.test(String.fromCharCode(...text.subarray(from, Math.min(to, from + 64))))) return false
    if (at % (2 * partsInStep) === 0) yield
  }
  return true
}

const quote = 0x22
const backslash = 0x5c

/** Where the text ends whose first quote is before `from`. */
const endOfText = (text: Uint8Array, from: number): number => {
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let before = at
    while (before > from && text[before - 1]! === backslash) before--
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}

const codesOf = (text: string): ReadonlySet<number> => new Set(Array.from(text, (character) => character.charCodeAt(0)))

const ofNumber: ReadonlySet<number> = codesOf("+-.0123456789Ee")
const beginsNumber: ReadonlySet<number> = codesOf("-0123456789")

/** The same parts, but outside of quotes the numbers that they touch, each as a whole. */
function* withNumbers(text: Uint8Array, bounds: ReadonlyArray<number>): Steps<Parts> {
  const result: Array<number> = []
  const numbers = new Set<number>()
  const addNumbers = (from: number, to: number) => {
    let at = from
    while (at > (result.at(-1) ?? 0) && ofNumber.has(text[at - 1]!)) at--
    while (at < to) {
      const begin = at++
      if (!beginsNumber.has(text[begin]!)) continue
      while (at < text.length && ofNumber.has(text[at]!)) at++
      result.push(begin, at)
      numbers.add(begin)
    }
  }
  let texts = 0
  let opened = -1
  let closed = -1
  for (let at = 0; at < bounds.length; at += 2) {
    const [from, to] = [Math.max(bounds[at]!, result.at(-1) ?? 0), bounds[at + 1]!]
    while (closed < from) {
      const next = text.indexOf(quote, closed + 1)
      opened = next === -1 ? text.length : next
      closed = endOfText(text, opened + 1)
      if (++texts % partsInStep === 0) yield
    }
    if (opened < from) result.push(from, to)
    else addNumbers(from, to)
    if (at % (2 * partsInStep) === 0) yield
  }
  return { bounds: result, unquoted: numbers }
}
