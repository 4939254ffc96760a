/** A list of which only the rows near the visible part exist. Rows are measured; all of them exist while the page is printed. */
import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer
} from "@tanstack/virtual-core"
import type { ComponentChildren, RefObject } from "preact"
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks"

/** How far beyond the visible part rows exist (pixels). */
const overscanPixels = 400

/** Rows that are kept at most, whether they are on the page or not. */
const keptRows = 500

/** More rows than this are not printed: the page says so. */
const maxPrinted = 3_000

export interface ListHandle {
  readonly scrollTo: (index: number, align: "start" | "center" | "auto") => void
}

interface Props {
  readonly scroller: RefObject<HTMLElement | null>
  readonly count: number
  readonly keyOf: (index: number) => string
  readonly estimate: (index: number) => number
  readonly row: (index: number) => ComponentChildren
  readonly handle: RefObject<ListHandle | null>
  readonly label: string
}

const usePrinting = (): boolean => {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    const media = matchMedia("print")
    const update = () => setPrinting(media.matches)
    const before = () => setPrinting(true)
    const after = () => setPrinting(false)
    update()
    media.addEventListener("change", update)
    addEventListener("beforeprint", before)
    addEventListener("afterprint", after)
    return () => {
      media.removeEventListener("change", update)
      removeEventListener("beforeprint", before)
      removeEventListener("afterprint", after)
    }
  }, [])
  return isPrinting
}

/** The rows of one `row`, each made once: a row that is the same object is not compared again in every frame. */
const useRows = (row: Props["row"]) => {
  const made = useRef<{ row: Props["row"]; readonly rows: Map<number, ComponentChildren> }>({ row, rows: new Map() })
  if (made.current.row !== row || made.current.rows.size > keptRows) made.current = { row, rows: new Map() }
  const { rows } = made.current
  return (index: number): ComponentChildren => {
    if (!rows.has(index)) rows.set(index, row(index))
    return rows.get(index)
  }
}

export const VirtualList = ({ count, estimate, handle, keyOf, label, row, scroller }: Props) => {
  const [, render] = useReducer((round: number) => round + 1, 0)
  const isPrinting = usePrinting()
  const rowOf = useRows(row)
  const ref = useRef<Virtualizer<HTMLElement, HTMLElement>>(undefined)
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: estimate,
    getItemKey: keyOf,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    measureElement,
    overscan: 0,
    rangeExtractor: ({ endIndex, startIndex }: { readonly startIndex: number; readonly endIndex: number }) => {
      const { measurementsCache: measured } = ref.current!
      let first = startIndex
      let last = endIndex
      const top = (measured[startIndex]?.start ?? 0) - overscanPixels
      const bottom = (measured[endIndex]?.end ?? 0) + overscanPixels
      while (first > 0 && (measured[first]?.start ?? 0) > top) first--
      while (last < count - 1 && (measured[last]?.end ?? Infinity) < bottom) last++
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    },
    onChange: () => render(undefined)
  }
  const virtualizer = (ref.current ??= new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => virtualizer._willUpdate())
  handle.current = { scrollTo: (index, align) => virtualizer.scrollToIndex(index, { align }) }
  if (isPrinting) {
    return (
      <div class="list printed">
        {Array.from({ length: Math.min(count, maxPrinted) }, (_, index) => (
          <div key={keyOf(index)}>{row(index)}</div>
        ))}
        {count > maxPrinted && <p>{count - maxPrinted} more are not printed.</p>}
      </div>
    )
  }
  const rows = virtualizer.getVirtualItems()
  return (
    <div
      class="list"
      role="feed"
      aria-label={label}
      aria-busy="false"
      style={{ height: `${virtualizer.getTotalSize()}px` }}
    >
      {rows.map(({ index, key, start }) => (
        <div
          key={key}
          class="list-row"
          role="article"
          aria-posinset={index + 1}
          aria-setsize={count}
          data-index={index}
          ref={virtualizer.measureElement}
          style={{ transform: `translateY(${start}px)` }}
        >
          {rowOf(index)}
        </div>
      ))}
    </div>
  )
}
