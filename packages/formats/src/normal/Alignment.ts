/** Finds what two sequences have in common, as a diff does. */

/** Places of an equal element that are tried, the last ones. More would make repeated elements slow. */
const maxPlaces = 32

/** A pair of a longest common subsequence, and the pair before it. */
interface Link {
  readonly old: number
  readonly new: number
  readonly previous: Link | undefined
}

/** How many of them, whose old places ascend, are before this one. */
const countBefore = (links: ReadonlyArray<Link>, old: number): number => {
  let low = 0
  let high = links.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (links[middle]!.old < old) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * For each element of `news` the index of the element of `olds` that it is, or -1. Indexes ascend: these are the elements of a
 * longest common subsequence, unless elements recur often.
 */
export const align = <Element>(olds: ReadonlyArray<Element>, news: ReadonlyArray<Element>): ReadonlyArray<number> => {
  const found = news.map(() => -1)
  let ends = 0
  while (ends < olds.length && ends < news.length && olds.at(-1 - ends) === news.at(-1 - ends)) {
    found[news.length - 1 - ends] = olds.length - 1 - ends
    ends++
  }
  const places = new Map<Element, Array<number>>()
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
      const length = countBefore(shortest, old)
      shortest[length] = { old, new: at, previous: shortest[length - 1] }
    }
  }
  for (let link = shortest.at(-1); link !== undefined; link = link.previous) found[link.new] = link.old
  return found
}
