/**
 * `j` and `k` move along the rows of a list, `Enter` opens the row, and `o` shows it beside the list, where `peek` is given. Returns
 * the index of the row; -1 before the first key, and when the row is gone: then the keys go on from where it was. The row stays selected
 * where others come before it.
 */
import type { RefObject } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { blurControl, useKeys } from "./Keys.ts"

/** `ids` are those of the rows, in their order. */
export const useSelection = (
  ids: ReadonlyArray<string>,
  list: RefObject<HTMLElement | null>,
  open: (index: number) => void,
  peek?: (index: number) => void
): number => {
  const [selected, select] = useState<string>()
  const index = selected === undefined ? -1 : ids.indexOf(selected)
  useEffect(() => {
    const row = list.current?.children[index]
    row?.scrollIntoView({ block: "nearest" })
  }, [selected])
  const last = useRef(-1)
  if (index !== -1) last.current = index
  const move = (by: 1 | -1) => {
    blurControl()
    // The row after one that is gone has its place.
    const from = index === -1 && by === 1 && last.current !== -1 ? last.current - 1 : last.current
    select(ids[Math.max(0, Math.min(ids.length - 1, from + by))])
  }
  useKeys([
    { keys: "j", does: "Next", run: () => move(1) },
    { keys: "k", does: "Previous", run: () => move(-1) },
    { keys: "Enter", does: "Open", run: () => index >= 0 && open(index) },
    ...(peek === undefined
      ? []
      : [{ keys: "o", does: "Preview", run: () => ids.length > 0 && peek(Math.max(0, index)) }])
  ])
  return index
}
