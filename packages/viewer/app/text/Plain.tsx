/** Text of a stranger as text: what would not be seen of it is shown by name. Nothing of it becomes markup. */
import type { VNode } from "preact"
import { Fragment } from "preact"
import { piecesOf } from "./Hidden.ts"

/** More runs of invisible characters in one text are named without a frame: elements cost more than text. */
const maxFramed = 500

export const Plain = ({ text }: { readonly text: string }): VNode => {
  let framed = 0
  const shown = piecesOf(text).map(({ isNamed, text }): VNode | string => {
    if (!isNamed) return text
    return framed++ < maxFramed ? (
      <span class="control" title="Not visible in what was sent">
        {text}
      </span>
    ) : (
      `[${text}]`
    )
  })
  return <Fragment>{framed > maxFramed ? joined(shown) : shown}</Fragment>
}

/** Neighbouring texts as one. */
const joined = (shown: ReadonlyArray<VNode | string>): ReadonlyArray<VNode | string> => {
  const last = shown.findLastIndex((each) => typeof each !== "string")
  return [...shown.slice(0, last + 1), shown.slice(last + 1).join("")]
}
