/** Finds what two sequences have in common, as a diff does. */
import * as Sorted from "../Sorted.ts"

/** Places of an equal element that are tried, the last ones. More would make repeated elements slow. */
const maxPlaces = 32

/** A pair of a longest common subsequence, and the pair before it. */
interface Link {
  readonly old: number
  readonly new: number
  readonly previous: Link | undefined
}

/**
 * For each element of `news` the index of the element of `olds` that it is, or -1. Indexes ascend: these are the elements of a
 * longest common subsequence, unless elements recur often.
 */
export const align = (olds: ReadonlyArray<number>, news: ReadonlyArray<number>): ReadonlyArray<number> => {
  const found = news.map(() => -1)
  let ends = 0
  while (ends < olds.length && ends < news.length && olds.at(-1 - ends) === news.at(-1 - ends)) {
    found[news.length - 1 - ends] = olds.length - 1 - ends
    ends++
  }
  const places = new Map<number, Array<number>>()
  for (let at = 0; at < olds.length - ends; at++) {
    const known = places.get(olds[at]!)
    if (known === undefined) places.set(olds[at]!, [at])
    else known.push(at)
  }
  /** The subsequence of each length that ends first. */
  const shortest: Array<Link> = []
  for (let at = 0; at < news.length - ends; at++) {
    // The last place first, so that an element is not paired twice.
    for (const old of places.get(news[at]!)?.slice(-maxPlaces).reverse() ?? []) {
      const length = Sorted.firstNot(shortest, (link) => link.old < old)
      shortest[length] = { old, new: at, previous: shortest[length - 1] }
    }
  }
  for (let link = shortest.at(-1); link !== undefined; link = link.previous) found[link.new] = link.old
  return found
}
