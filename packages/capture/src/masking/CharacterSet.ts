/** Sets of UTF-16 code units, as ranges in order that neither overlap nor touch. */
export type CharacterSet = ReadonlyArray<readonly [from: number, to: number]>

const last = 0xffff

export const of = (ranges: CharacterSet): CharacterSet => {
  const joined: Array<[number, number]> = []
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = joined.at(-1)
    if (before !== undefined && from <= before[1] + 1) before[1] = Math.max(before[1], to)
    else joined.push([from, to])
  }
  return joined
}

export const not = (set: CharacterSet): CharacterSet => {
  const left: Array<[number, number]> = []
  let from = 0
  for (const range of set) {
    if (range[0] > from) left.push([from, range[0] - 1])
    from = range[1] + 1
  }
  if (from <= last) left.push([from, last])
  return left
}

const codeOf = (character: string): number => character.charCodeAt(0)

const between = (...pairs: ReadonlyArray<string>): CharacterSet =>
  of(pairs.map((pair) => [codeOf(pair), codeOf(pair.at(-1)!)]))

export const digits = between("09")
export const word = between("09", "AZ", "__", "az")
export const space = between(
  "\t\r",
  "  ",
  "\u00a0\u00a0",
  "\u1680\u1680",
  "\u2000\u200a",
  "\u2028\u2029",
  "\u202f\u202f",
  "\u205f\u205f",
  "\u3000\u3000",
  "\ufeff\ufeff"
)
export const lineBreaks = between("\n\n", "\r\r", "\u2028\u2029")

export const has = (set: CharacterSet, code: number): boolean => set.some(([from, to]) => code >= from && code <= to)

/** More characters than this have no capitals between them, or all of them. */
const mostFolded = 4096

/** The set with the capitals of its small letters, and the other way round. */
export const inBothCases = (set: CharacterSet): CharacterSet => {
  const more: Array<readonly [number, number]> = [...set]
  for (const [from, to] of set) {
    if (to - from > mostFolded) continue
    for (let code = from; code <= to; code++) {
      const character = String.fromCharCode(code)
      for (const other of [character.toLowerCase(), character.toUpperCase()]) {
        if (other.length === 1) more.push([codeOf(other), codeOf(other)])
      }
    }
  }
  return of(more)
}
