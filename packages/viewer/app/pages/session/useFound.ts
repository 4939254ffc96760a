/** Finds in a session's stream, and marks what is found. */
import type { RefObject } from "preact"
import { useCallback, useEffect } from "preact/hooks"
import * as Highlight from "../../find/Highlight.ts"
import { type Find, useFind } from "../../find/useFind.ts"
import { type Stream, wordsOf } from "./StreamItems.ts"
import type { ListHandle } from "./VirtualList.tsx"

export const useFound = (
  { items, results }: Stream,
  scroller: RefObject<HTMLElement | null>,
  list: RefObject<ListHandle | null>
): Find => {
  const wordsAt = useCallback((row: number) => wordsOf(items[row]!, results), [items, results])
  const find = useFind(items.length, wordsAt)
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
