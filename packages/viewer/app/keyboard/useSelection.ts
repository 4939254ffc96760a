/**
 * `j` and `k` move along the rows of a list, `Enter` opens the row, and `o` shows it beside the list, where `peek` is given. Returns
 * the index of the row; -1 before the first key.
 */
import type { RefObject } from "preact"
import { useEffect, useState } from "preact/hooks"
import { useKeys } from "./Keys.ts"

export const useSelection = (
  length: number,
  list: RefObject<HTMLElement | null>,
  open: (index: number) => void,
  peek?: (index: number) => void
): number => {
  const [index, setIndex] = useState(-1)
  useEffect(() => {
    const row = list.current?.children[index]
    row?.scrollIntoView({ block: "nearest" })
  }, [index])
  const move = (by: number) => setIndex((index) => Math.max(0, Math.min(length - 1, index + by)))
  useKeys([
    { keys: "j", does: "Next", run: () => move(1) },
    { keys: "k", does: "Previous", run: () => move(-1) },
    { keys: "Enter", does: "Open", run: () => index >= 0 && index < length && open(index) },
    ...(peek === undefined
      ? []
      : [{ keys: "o", does: "Preview", run: () => index < length && peek(Math.max(0, index)) }])
  ])
  return index
}
