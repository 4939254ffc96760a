/** Finds what two sequences have in common, as a diff does. */

/** Of the table that a longest common subsequence is read from (words of 32 bits). 10,000 elements beside 10,000 others take 3.1 million. */
const maxWords = 2 ** 22

/** In a longer sequence, an element that has more places is not looked for at first. */
const maxPlaces = 32

const wordsOf = (olds: ReadonlyArray<unknown>): number => Math.ceil(olds.length / 32)

/** Of each element that is wanted, a bit for each place that it has. */
const masksOf = <Element>(olds: ReadonlyArray<Element>, wanted: ReadonlySet<Element>): Map<Element, Uint32Array> => {
  const masks = new Map<Element, Uint32Array>()
  for (const [at, element] of olds.entries()) {
    if (!wanted.has(element)) continue
    const mask = masks.get(element) ?? new Uint32Array(wordsOf(olds))
    mask[at >>> 5]! |= 1 << (at & 31)
    masks.set(element, mask)
  }
  return masks
}

/**
 * A longest common subsequence, 32 places of `olds` at a time (Hyyrö, 2004). In the row of the first elements of `news`, the bit of a place
 * is 0 where one more is common up to it than before it.
 */
const longest = <Element>(olds: ReadonlyArray<Element>, news: ReadonlyArray<Element>): Array<number> => {
  const words = wordsOf(olds)
  const masks = masksOf(olds, new Set(news))
  const rows = new Uint32Array(words * (news.length + 1)).fill(0xffff_ffff, 0, words)
  for (const [at, element] of news.entries()) {
    const [from, to] = [at * words, (at + 1) * words]
    const mask = masks.get(element)
    if (mask === undefined) {
      rows.copyWithin(to, from, to)
      continue
    }
    let carry = 0
    for (let word = 0; word < words; word++) {
      const row = rows[from + word]!
      const sum = row + ((row & mask[word]!) >>> 0) + carry
      carry = sum > 0xffff_ffff ? 1 : 0
      rows[to + word] = sum | (row & ~mask[word]!)
    }
  }
  const isMore = (at: number, old: number) => ((rows[at * words + (old >>> 5)]! >>> (old & 31)) & 1) === 0
  const found = news.map(() => -1)
  for (let [at, old] = [news.length, olds.length - 1]; at > 0 && old >= 0;) {
    if (!isMore(at, old)) old--
    else if (isMore(at - 1, old)) at--
    else found[--at] = old--
  }
  return found
}

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

/** A longest common subsequence of the elements that have few places. */
const longestOfRare = <Element>(olds: ReadonlyArray<Element>, news: ReadonlyArray<Element>): Array<number> => {
  const places = new Map<Element, Array<number>>()
  for (const [at, element] of olds.entries()) {
    const known = places.get(element)
    if (known === undefined) places.set(element, [at])
    else known.push(at)
  }
  /** The subsequence of each length that ends first. */
  const shortest: Array<Link> = []
  for (const [at, element] of news.entries()) {
    const olds = places.get(element) ?? []
    if (olds.length > maxPlaces) continue
    // The last place first, so that an element is not paired twice.
    for (const old of olds.toReversed()) {
      const length = countBefore(shortest, old)
      shortest[length] = { old, new: at, previous: shortest[length - 1] }
    }
  }
  const found = news.map(() => -1)
  for (let link = shortest.at(-1); link !== undefined; link = link.previous) found[link.new] = link.old
  return found
}

/** Where the table would be too long: the elements that have few places, and then what is between them. */
const betweenRare = <Element>(olds: ReadonlyArray<Element>, news: ReadonlyArray<Element>): Array<number> => {
  const found = longestOfRare(olds, news)
  let [oldFrom, from] = [0, 0]
  for (const [at, oldAt] of [...found, olds.length].entries()) {
    if (oldAt === -1) continue
    const gap = [olds.slice(oldFrom, oldAt), news.slice(from, at)] as const
    if (isShort(...gap)) {
      for (const [index, old] of longest(...gap).entries()) if (old !== -1) found[from + index] = oldFrom + old
    }
    oldFrom = oldAt + 1
    from = at + 1
  }
  return found
}

const isShort = (olds: ReadonlyArray<unknown>, news: ReadonlyArray<unknown>): boolean =>
  wordsOf(olds) * (news.length + 1) <= maxWords

/**
 * For each element of `news` the index of the element of `olds` that it is, or -1. Indexes ascend: these are the elements of a
 * longest common subsequence, unless there are more than some 10,000 of both that differ, and they recur often.
 */
export const align = <Element>(olds: ReadonlyArray<Element>, news: ReadonlyArray<Element>): ReadonlyArray<number> => {
  const most = Math.min(olds.length, news.length)
  let ends = 0
  while (ends < most && olds.at(-1 - ends) === news.at(-1 - ends)) ends++
  let starts = 0
  while (starts < most - ends && olds[starts] === news[starts]) starts++
  const middle = [olds.slice(starts, olds.length - ends), news.slice(starts, news.length - ends)] as const
  const found = isShort(...middle) ? longest(...middle) : betweenRare(...middle)
  return news.map((_, at) => {
    if (at < starts) return at
    if (at >= news.length - ends) return at - news.length + olds.length
    const old = found[at - starts]!
    return old === -1 ? -1 : starts + old
  })
}
