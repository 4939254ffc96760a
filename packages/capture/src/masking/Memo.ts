/** Results that one function remembers. */
const maxRemembered = 64

/** The longest text whose result is remembered (characters). */
const longestRemembered = 1024

/** Whether a text is short enough for its result to be remembered. */
export const isRemembered = (text: string): boolean => text.length <= longestRemembered

/** As `compute`, which takes long. Remembers results, and forgets the oldest. */
export const remembering = <A>(compute: (text: string) => A): ((text: string) => A) => {
  const remembered = new Map<string, A>()
  return (text) => {
    const known = remembered.get(text)
    if (known !== undefined) return known
    const found = compute(text)
    if (!isRemembered(text)) return found
    remembered.set(text, found)
    if (remembered.size > maxRemembered) for (const oldest of remembered.keys()) if (remembered.delete(oldest)) break
    return found
  }
}
