/** Scrolls a session's stream: to what its place names, back to where it was, and along with what is new. */
import type { RefObject } from "preact"
import { useEffect, useRef } from "preact/hooks"
import * as Scroll from "../../route/Scroll.ts"
import type { ListHandle } from "./VirtualList.tsx"

/** When it is looked again whether what is selected is in view (ms). */
const settleMs = [30, 120, 400]

interface Options {
  readonly scroller: RefObject<HTMLElement | null>
  readonly list: RefObject<ListHandle | null>
  /** Rows that are there. */
  readonly count: number
  /** The row that the place names; -1 for none. */
  readonly selected: number
  /** What the place says, as a text. */
  readonly wanted: string
  /** Whether the stream is not on the page. */
  readonly isHidden: boolean
  readonly isLoading: boolean
  readonly isFollowing: boolean
}

/** Returns what keeps the stream where the person has scrolled it. */
export const useArrival = ({ count, isFollowing, isHidden, isLoading, list, scroller, selected, wanted }: Options) => {
  // Goes to what the place says, whenever it says something else; and again while rows come before it, until the person scrolls.
  const arrived = useRef("")
  const stay = () => void (arrived.current = wanted)
  useEffect(() => {
    if (selected === -1 || isHidden || arrived.current === wanted) return
    const show = () => {
      if (arrived.current === wanted) return
      const element = scroller.current?.querySelector(`[data-index="${selected}"]`)
      if (element !== null && element !== undefined) element.scrollIntoView({ block: "nearest" })
      else list.current?.scrollTo(selected, "center")
    }
    show()
    // Rows move while those before them are measured.
    const timers = settleMs.map((ms) => setTimeout(show, ms))
    if (!isLoading) timers.push(setTimeout(stay, settleMs.at(-1)! + 1))
    return () => timers.forEach(clearTimeout)
  }, [selected, wanted, count, isLoading])

  // Going back restores the scroll.
  const isRestored = useRef(false)
  useEffect(() => {
    if (isRestored.current || count === 0 || scroller.current === null) return
    const offset = Scroll.recall("session")
    if (offset === undefined || !isLoading) isRestored.current = true
    if (offset === undefined) return
    scroller.current.scrollTop = offset
    if (scroller.current.scrollTop >= offset - 1) isRestored.current = true
  }, [count, isLoading])

  useEffect(() => {
    if (isFollowing) list.current?.scrollTo(count - 1, "start")
  }, [count, isFollowing])
  return stay
}
