/**
 * Text of a stranger as text: control characters that would reorder it are shown by name, and the colours of terminals are taken
 * out. Nothing of it becomes markup.
 */
import type { VNode } from "preact"
import { Fragment } from "preact"

/** CSI and OSC sequences (ECMA-48), whose effect a page does not have. */
// oxlint-disable-next-line no-control-regex
const ansi = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g

/** What reorders or hides text: bidirectional controls, and characters of no width but those that join emoji and scripts. */
const hidden =
  /[[\p{Cc}--[\t\n\r]]\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gv

/** Without what only a terminal understands. */
export const withoutAnsi = (text: string): string => (text.includes("\u001b") ? text.replace(ansi, "") : text)

const name = (character: string): string => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`

export const Plain = ({ text }: { readonly text: string }): VNode => {
  const clean = withoutAnsi(text)
  const shown: Array<VNode | string> = []
  let from = 0
  for (const { 0: character, index } of clean.matchAll(hidden)) {
    shown.push(
      clean.slice(from, index),
      <span class="control" title="A character that is not visible">
        {name(character)}
      </span>
    )
    from = index + character.length
  }
  return <Fragment>{shown.length === 0 ? clean : [...shown, clean.slice(from)]}</Fragment>
}
