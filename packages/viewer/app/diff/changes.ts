/** What two texts have in common: by words, or by lines where they are long. */
import { wordsOf } from "@tachograph/client/compare"
import { diffArrays, diffLines } from "diff"

/** A part of the texts: of the second one only, of the first one only, or of both. */
export interface Change {
  readonly added: boolean
  readonly removed: boolean
  readonly value: string
}

/** Longer texts (characters, together) are compared by lines. */
const maxWords = 60_000

/** Words or lines that may differ: comparing more takes time with the square of their number. */
const maxEdits = 1_000

/** Undefined where they differ too much to be compared. */
export const changesOf = (before: string, after: string): ReadonlyArray<Change> | undefined => {
  const options = { maxEditLength: maxEdits }
  const isShort = before.length + after.length <= maxWords
  const byWord = isShort ? diffArrays(wordsOf(before), wordsOf(after), options) : undefined
  return (
    byWord?.map(({ value, ...change }) => ({ ...change, value: value.join("") })) ?? diffLines(before, after, options)
  )
}
