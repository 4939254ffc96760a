/** What is looked for in a list of rows, and which of its occurrences is the current one. */
import { useMemo, useState } from "preact/hooks"

interface Occurrence {
  readonly row: number
  /** Among the occurrences of the row. */
  readonly within: number
}

export interface Find {
  readonly isOpen: boolean
  readonly words: string
  readonly occurrences: ReadonlyArray<Occurrence>
  readonly index: number
  readonly current: Occurrence | undefined
  readonly open: () => void
  readonly close: () => void
  readonly set: (words: string) => void
  readonly step: (by: number) => void
}

/** More occurrences are not counted. */
const maxOccurrences = 10_000

/** `rows` are in lower case. */
const search = (rows: number, wordsOf: (row: number) => string, words: string): ReadonlyArray<Occurrence> => {
  const found: Array<Occurrence> = []
  if (words === "") return found
  for (let row = 0; row < rows; row++) {
    const text = wordsOf(row)
    let within = 0
    for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + words.length)) {
      if (found.push({ row, within: within++ }) === maxOccurrences) return found
    }
  }
  return found
}

export const useFind = (rows: number, wordsOf: (row: number) => string): Find => {
  const [state, setState] = useState({ isOpen: false, words: "", index: 0 })
  const words = state.isOpen ? state.words.toLowerCase() : ""
  const occurrences = useMemo(() => search(rows, wordsOf, words), [rows, wordsOf, words])
  const index = occurrences.length === 0 ? -1 : state.index % occurrences.length
  return {
    isOpen: state.isOpen,
    words,
    occurrences,
    index,
    current: occurrences[index],
    open: () => setState((state) => ({ ...state, isOpen: true })),
    close: () => setState((state) => ({ ...state, isOpen: false })),
    set: (words) => setState((state) => ({ ...state, words, index: 0 })),
    // Wraps round at both ends.
    step: (by) =>
      setState((state) => ({
        ...state,
        index: (state.index + by + occurrences.length) % Math.max(1, occurrences.length)
      }))
  }
}
