/** Puts a mask in the place of parts of a JSON text, which stays JSON. */
import type { Steps } from "@tachograph/core"
import * as Credentials from "@tachograph/formats/Credentials"

const mask = Buffer.from(Credentials.mask)

/** In the place of a number. */
const quotedMask = Buffer.from(JSON.stringify(Credentials.mask))

/** How many parts, or texts between quotes, are passed in a step. */
const partsInStep = 4096

/** What JSON may have outside of its quotes: numbers, the letters of `true`, `false` and `null`, and what stands between them. */
const unquoted = /^[-+.\d\s,:[\]{}Eaeflnrstu]+$/

interface Parts {
  /** Where each part begins and ends, in turn: in the order of the text, and none overlaps another. */
  readonly bounds: ReadonlyArray<number>
  /** The beginnings of those that are numbers. */
  readonly numbers: ReadonlySet<number>
}

/** The text without the parts, whose bounds are in the order of the text. */
export function* masked(text: Buffer, bounds: ReadonlyArray<number>): Steps.Steps<Buffer> {
  const areInQuotes = yield* haveLetters(text, bounds)
  return yield* cut(text, areInQuotes ? { bounds, numbers: new Set<number>() } : yield* withNumbers(text, bounds))
}

/** Whether each part has what stands in quotes only. */
function* haveLetters(text: Buffer, bounds: ReadonlyArray<number>): Steps.Steps<boolean> {
  for (let at = 0; at < bounds.length; at += 2) {
    if (unquoted.test(text.toString("latin1", bounds[at], bounds[at + 1]))) return false
    if (at % (2 * partsInStep) === 0) yield
  }
  return true
}

const quote = 0x22
const backslash = 0x5c

/** Where the text ends whose first quote is before `from`. */
const endOfText = (text: Buffer, from: number): number => {
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let before = at
    while (before > from && text[before - 1] === backslash) before--
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}

const ofNumber: ReadonlySet<number> = new Set(Buffer.from("+-.0123456789Ee"))
const beginsNumber: ReadonlySet<number> = new Set(Buffer.from("-0123456789"))

/** The same parts, but outside of quotes the numbers that they touch, each as a whole. */
function* withNumbers(text: Buffer, bounds: ReadonlyArray<number>): Steps.Steps<Parts> {
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
  return { bounds: result, numbers }
}

function* cut(text: Buffer, { bounds, numbers }: Parts): Steps.Steps<Buffer> {
  let length = text.length + (bounds.length / 2) * mask.length + numbers.size * (quotedMask.length - mask.length)
  for (let at = 0; at < bounds.length; at += 2) length -= bounds[at + 1]! - bounds[at]!
  const result = Buffer.allocUnsafeSlow(length)
  let to = 0
  let from = 0
  for (let at = 0; at < bounds.length; at += 2) {
    const begin = bounds[at]!
    to += text.copy(result, to, from, begin)
    to += (numbers.has(begin) ? quotedMask : mask).copy(result, to)
    from = bounds[at + 1]!
    if (at % (2 * partsInStep) === 0) yield
  }
  text.copy(result, to, from)
  return result
}
