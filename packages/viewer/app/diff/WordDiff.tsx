/** Two texts as one: words that only the first has struck out, words that only the second has marked. */
import { useMemo } from "preact/hooks"
import * as Format from "../text/Format.ts"
import { Plain } from "../text/Plain.tsx"
import { type Change, changesOf } from "./changes.ts"
import { cutAt, cutFrom } from "./cuts.ts"

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
  const changes = useMemo(() => changesOf(before, after), [before, after])
  if (changes === undefined) {
    return <p class="hint">These texts differ too much to be compared.</p>
  }
  if (changes.every(({ added, removed }) => !added && !removed)) return <p class="hint">The same in both.</p>
  return <Changes changes={changes} />
}

interface ChangesProps {
  readonly changes: ReadonlyArray<Change>
  /** Of which text only its own words are shown; undefined for both. */
  readonly only?: "before" | "after"
}

export const Changes = ({ changes, only }: ChangesProps) => (
  <div class="diff as-sent">
    {changes.map(({ added, removed, value }, index) => {
      if (added) return only !== "before" && <Plain key={index} as="ins" text={value} />
      if (removed) return only !== "after" && <Plain key={index} as="del" text={value} />
      return <Same key={index} text={value} />
    })}
  </div>
)
