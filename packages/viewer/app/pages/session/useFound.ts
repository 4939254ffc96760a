/** Finds in rows of which those near the visible part exist, and marks what is found. */
import type { RefObject } from "preact"
import { useEffect } from "preact/hooks"
import * as Highlight from "../../find/Highlight.ts"
import { type Find, useFind } from "../../find/useFind.ts"
import type { ListHandle } from "./VirtualList.tsx"

/** `wordsAt` are in lower case, and another function where rows have changed. */
export const useFound = (
  count: number,
  wordsAt: (row: number) => string,
  scroller: RefObject<HTMLElement | null>,
  list: RefObject<ListHandle | null>
): Find => {
  const find = useFind(count, wordsAt)
  const { current, words } = find
  useEffect(() => {
    if (words === "") return Highlight.clear()
    if (current !== undefined) list.current?.scrollTo(current.row, "auto")
    // After the row is there, and what is folded in it is open.
    const timers = [0, 120].map((ms) =>
      setTimeout(() => {
        const root = scroller.current
        const row = current === undefined ? null : (root?.querySelector(`[data-index="${current.row}"]`) ?? null)
        if (root !== null) Highlight.show(root, words, row, current?.within ?? 0)
      }, ms)
    )
    return () => timers.forEach(clearTimeout)
  }, [words, current?.row, current?.within])
  useEffect(() => Highlight.clear, [])
  return find
}
