/** Highlights what is looked for, in what is on the page now, without changing the page (CSS Custom Highlight API). */
const names = { all: "found", current: "found-current" } as const

const isSupported = typeof Highlight === "function" && "highlights" in CSS

const rangesIn = (root: Node, words: string): ReadonlyArray<Range> => {
  const ranges: Array<Range> = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.nodeValue!.toLowerCase()
    // Letters that have another length in lower case would shift the range.
    if (text.length !== node.nodeValue!.length) continue
    for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + words.length)) {
      const range = new Range()
      range.setStart(node, at)
      range.setEnd(node, at + words.length)
      ranges.push(range)
    }
  }
  return ranges
}

export const clear = (): void => {
  if (isSupported) for (const name of Object.values(names)) CSS.highlights.delete(name)
}

/** `words` are in lower case. Scrolls to the occurrence with this index within `current`, and returns whether it is there. */
export const show = (root: Element, words: string, current: Element | null, index: number): boolean => {
  clear()
  if (words === "") return false
  const found = current === null ? undefined : rangesIn(current, words)
  const range = found?.[Math.min(index, found.length - 1)]
  if (isSupported) {
    CSS.highlights.set(names.all, new Highlight(...rangesIn(root, words)))
    if (range !== undefined) CSS.highlights.set(names.current, new Highlight(range))
  }
  range?.startContainer.parentElement?.scrollIntoView({ block: "nearest" })
  return range !== undefined
}

/** The same, for rows that hold at most one current occurrence, which is in view already. */
export const mark = (root: Element, words: string, current: Element | null): void => {
  clear()
  if (!isSupported) return
  CSS.highlights.set(names.all, new Highlight(...rangesIn(root, words)))
  const [range] = current === null ? [] : rangesIn(current, words)
  if (range !== undefined) CSS.highlights.set(names.current, new Highlight(range))
}
