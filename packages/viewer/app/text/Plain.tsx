/** Text of a stranger as text: what would not be seen of it is shown by name. Nothing of it becomes markup. */
import type { VNode } from "preact"
import { createElement, Fragment } from "preact"
import { piecesOf } from "./Hidden.ts"

/** More runs of invisible characters in one text are named without a frame: elements cost more than text. */
const maxFramed = 500

interface Props {
  readonly text: string
  /** The element that holds it; none by default. */
  readonly as?: "b" | "code" | "dd" | "del" | "dt" | "h1" | "h2" | "h3" | "i" | "ins" | "mark" | "small" | "span"
  readonly class?: string
  readonly title?: string | undefined
}

export const Plain = ({ as, text, ...about }: Props): VNode => {
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
  const pieces = framed > maxFramed ? joined(shown) : shown
  return as === undefined ? <Fragment>{pieces}</Fragment> : createElement(as, about, pieces)
}

/** Neighbouring texts as one. */
const joined = (shown: ReadonlyArray<VNode | string>): ReadonlyArray<VNode | string> => {
  const last = shown.findLastIndex((each) => typeof each !== "string")
  return [...shown.slice(0, last + 1), shown.slice(last + 1).join("")]
}
