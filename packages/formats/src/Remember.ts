/** How many results are remembered, and how long what they are of may be (characters). */
const [maxRemembered, longestRemembered] = [64, 1024]

/** As `compute`, which takes long, with the results for the last texts that it got. */
export const remembering = <A>(compute: (text: string) => A): ((text: string) => A) => {
  const remembered = new Map<string, A>()
  return (text) => {
    const known = remembered.get(text)
    if (known !== undefined) return known
    const found = compute(text)
    if (text.length > longestRemembered) return found
    if (remembered.size === maxRemembered) remembered.clear()
    remembered.set(text, found)
    return found
  }
}
