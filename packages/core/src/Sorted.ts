/** Searches lists that are sorted. */

/** The index of the first element from which on it is no longer true; the length of the list if it is true of all. */
export const firstNot = <Element>(list: ReadonlyArray<Element>, isBefore: (element: Element) => boolean): number => {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(list[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
