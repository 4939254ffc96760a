/** The first character at which two texts differ, from 1: Unicode code points, as searches count. Undefined where they are the same. */
export const firstDifference = (before: string, after: string): number | undefined => {
  if (before === after) return undefined
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  // Half of a character that both have is none.
  const same = before.slice(0, at)
  return Array.from(same).length + (/[\uD800-\uDBFF]$/.test(same) ? 0 : 1)
}
