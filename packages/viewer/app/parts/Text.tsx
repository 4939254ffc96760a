/** A text of any length. Long ones begin with their first part, and show the rest when asked. */
import { useContext, useMemo, useState } from "preact/hooks"
import { Sought } from "../find/Sought.ts"
import { bytes, sizeOf } from "../text/Format.ts"
import { Markdown } from "../text/Markdown.tsx"
import { maxWork, workOf } from "../text/MarkdownWork.ts"
import { withoutCsi } from "../text/Hidden.ts"
import { Plain } from "../text/Plain.tsx"

/** Characters that are shown at first, and that are added with each step. */
const firstCharacters = 12_000
const stepCharacters = 200_000

interface Props {
  readonly text: string
  readonly isMarkdown: boolean
  /** Shown at first, where that is less than usual (characters). */
  readonly first?: number
}

/** Where a text may be cut: after a line if there is one near, and never within a character. */
const cutAt = (text: string, length: number): number => {
  if (text.length <= length) return text.length
  const line = text.lastIndexOf("\n", length)
  if (line > 0.8 * length) return line
  return (text.charCodeAt(length - 1) & 0xfc00) === 0xd800 ? length - 1 : length
}

/** Characters of a text that are shown at most because words are found in them. */
const maxSought = 1_000_000

/** The end of the last line in which words are found; 0 if there is none. */
const useSoughtEnd = (text: string): number => {
  const sought = useContext(Sought)
  return useMemo(() => {
    const at = sought === "" ? -1 : text.slice(0, maxSought).toLowerCase().lastIndexOf(sought)
    if (at === -1) return 0
    const line = text.indexOf("\n", at + sought.length)
    return line === -1 || line > at + maxSought ? Math.min(text.length, at + maxSought) : line
  }, [text, sought])
}

/** Whether a text is shown as Markdown or as it was sent: that depends on how much work it is to read. */
const useReading = (text: string, isMarkdown: boolean, wasLengthened: boolean) => {
  const [isAsked, setAsked] = useState(false)
  const work = useMemo(() => (isMarkdown ? workOf(text, maxWork.asked) : Infinity), [text, isMarkdown])
  const isRead = work <= (isAsked || wasLengthened ? maxWork.asked : maxWork.atOnce)
  return { isRead, canAsk: !isRead && work <= maxWork.asked, ask: () => setAsked(true) }
}

export const Text = ({ first = firstCharacters, isMarkdown, text: given }: Props) => {
  const text = withoutCsi(given)
  const [shown, setShown] = useState(first)
  const end = Math.max(cutAt(text, shown), useSoughtEnd(text))
  const visible = end === text.length ? text : text.slice(0, end)
  const { ask, canAsk, isRead } = useReading(visible, isMarkdown, end > first)
  return (
    <>
      {isRead ? (
        <Markdown text={visible} />
      ) : (
        <div class="as-sent">
          <Plain text={visible} />
        </div>
      )}
      {canAsk && (
        <button type="button" class="more-text" onClick={ask}>
          Show as Markdown
        </button>
      )}
      {end < text.length && (
        <button type="button" class="more-text" onClick={() => setShown((shown) => shown + stepCharacters)}>
          Show more of {bytes(sizeOf(text))}
        </button>
      )}
    </>
  )
}
