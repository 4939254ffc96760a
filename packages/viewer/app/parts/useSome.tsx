/** The first of many, and a button for more: a page that draws all of them at once stands still. */
import type { ComponentChildren } from "preact"
import { useContext, useState } from "preact/hooks"
import { Sought } from "../find/Sought.ts"
import * as Format from "../text/Format.ts"

/** How many are shown at first, where words are found in them, and with each step. */
const firstShown = 200
const shownSought = 1_000
const step = 1_000

/** How many of `length` are shown, and the button for more. */
export const useSome = (length: number): readonly [count: number, more: ComponentChildren] => {
  const [asked, setAsked] = useState(firstShown)
  const isSought = useContext(Sought) !== ""
  const count = Math.max(asked, isSought ? shownSought : 0)
  const more = count < length && (
    <button type="button" class="quiet" onClick={() => setAsked(count + step)}>
      Show more of {Format.count(length)}
    </button>
  )
  return [count, more]
}
