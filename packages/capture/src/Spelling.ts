/** Finds the name that was meant where one is written wrong. */

/** How many letters have to be changed, left out, added or swapped with the next one, to get from one word to the other. */
const distance = (a: string, b: string): number => {
  let [before, row]: [ReadonlyArray<number>, ReadonlyArray<number>] = [
    [],
    Array.from({ length: b.length + 1 }, (_, at) => at)
  ]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const changed = row[j - 1]! + (isSame ? 0 : 1)
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1, isSwapped ? before[j - 2]! + 1 : Infinity))
    }
    ;[before, row] = [row, next]
  }
  return row[b.length]!
}

/** How many letters may be wrong: of short words, most others are near. */
const maxDistance = (letters: number): number => (letters < 8 ? 1 : 2)

/** Longer words are names of something else. */
const maxLength = 64

const bare = (name: string): string => name.replaceAll(/[-_]/g, "").toLowerCase()

/** The nearest of `names` to what was written. Undefined where none is near. */
export const nearest = (written: string, names: Iterable<string>): string | undefined => {
  if (written.length > maxLength) return undefined
  const word = bare(written)
  let found: string | undefined
  let least = Infinity
  for (const name of names) {
    const other = bare(name)
    const most = maxDistance(Math.max(word.length, other.length))
    if (Math.abs(word.length - other.length) > most) continue
    const letters = distance(word, other)
    if (letters > most || letters >= least) continue
    found = name
    least = letters
  }
  return found
}

/** ` (did you mean …?)`, or nothing. */
export const hint = (written: string, names: Iterable<string>): string => {
  const name = nearest(written, names)
  return name === undefined ? "" : ` (did you mean ${name}?)`
}
