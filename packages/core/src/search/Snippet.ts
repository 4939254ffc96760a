/** The part of a text around a hit. */
import type { Hit } from "./Needle.ts"

export interface Snippet {
  readonly snippet: string
  /** Where the hit is in it, in Unicode code points. */
  readonly start: number
  readonly end: number
}

/** UTF-16 units around the hit. */
const before = 80
const after = 160

const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00
const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800

/** Whether a character of two units is cut there. */
const isInside = (text: string, at: number): boolean => isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1))

const codePoints = (text: string): number => Array.from(text).length

export const of = (text: string, { end, start }: Hit): Snippet => {
  let from = Math.max(0, start - before)
  if (isInside(text, from)) from++
  let to = Math.min(text.length, end + after)
  if (isInside(text, to)) to--
  const first = codePoints(text.slice(from, start))
  return { snippet: text.slice(from, to), start: first, end: first + codePoints(text.slice(start, end)) }
}
