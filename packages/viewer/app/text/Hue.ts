/** The colour of an agent, a version or a model: by its name alone, so that it is the same on every page and after each reload. */

/** `styles/hues.css` has them. None is that of failures or of warnings. */
const count = 10

/** How much the last number of a name counts, the one before it, and so on: so `1.4` and `1.5`, or `v1` and `v2`, are never the same. */
const weights = [1, 7, 3]

const hashOf = (text: string): number => {
  // FNV-1a.
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

/** 0 to `count - 1`. */
export const of = (name: string): number => {
  const numbers = (name.match(/\d{1,8}/g) ?? []).reverse().slice(0, weights.length)
  const counted = numbers.reduce((sum, digits, index) => sum + weights[index]! * Number(digits), 0)
  return (hashOf(name.replace(/\d+/g, "#")) + counted) % count
}

/** Where the names of one chart share a colour, all but the first of these by the alphabet are hatched. */
export const classesOf = (names: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const taken = new Set<number>()
  return new Map(
    names.toSorted().map((name) => {
      const hue = of(name)
      const isTaken = taken.has(hue)
      taken.add(hue)
      return [name, `hue-${hue}${isTaken ? " hatched" : ""}`]
    })
  )
}
