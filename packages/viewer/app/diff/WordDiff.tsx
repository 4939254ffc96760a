/** Two texts as one: words that only the first has struck out, words that only the second has marked. */
import { diffArrays, diffLines } from "diff"
import { useMemo } from "preact/hooks"
import * as Format from "../text/Format.ts"
import { Plain } from "../text/Plain.tsx"
import { cutAt, cutFrom, wordsOf } from "./words.ts"

/** Longer texts (characters, together) are compared by lines. */
const maxWords = 60_000

/** Words or lines that may differ: comparing more takes time with the square of their number. */
const maxEdits = 1_000

/** Parts of a text that is the same in both, and longer than this (characters), are folded to their ends. */
const foldedCharacters = 600
const shownCharacters = 200

const Same = ({ text }: { readonly text: string }) => {
  if (text.length <= foldedCharacters) return <Plain text={text} />
  const [end, start] = [cutAt(text, shownCharacters), cutFrom(text, shownCharacters)]
  return (
    <>
      <Plain text={text.slice(0, end)} />
      <details class="same">
        <summary>{Format.count(start - end)} characters that are the same</summary>
        <Plain text={text.slice(end, start)} />
      </details>
      <Plain text={text.slice(start)} />
    </>
  )
}

export const WordDiff = ({ after, before }: { readonly before: string; readonly after: string }) => {
  const changes = useMemo(() => {
    const options = { maxEditLength: maxEdits }
    const isShort = before.length + after.length <= maxWords
    const byWord = isShort ? diffArrays(wordsOf(before), wordsOf(after), options) : undefined
    return (
      byWord?.map(({ value, ...change }) => ({ ...change, value: value.join("") })) ?? diffLines(before, after, options)
    )
  }, [before, after])
  if (changes === undefined) {
    return <p class="hint">These texts differ too much to be compared.</p>
  }
  if (changes.every(({ added, removed }) => !added && !removed)) return <p class="hint">The same in both.</p>
  return (
    <div class="diff as-sent">
      {changes.map(({ added, removed, value }, index) => {
        if (added) {
          return (
            <ins key={index}>
              <Plain text={value} />
            </ins>
          )
        }
        if (removed) {
          return (
            <del key={index}>
              <Plain text={value} />
            </del>
          )
        }
        return <Same key={index} text={value} />
      })}
    </div>
  )
}
