/**
 * Restores where a list was scrolled to, when a person comes back to it: each entry of the history has its place. The browser does
 * it for the page, but not for elements that scroll, and not before their rows have come.
 */
import { useEffect, useLayoutEffect } from "preact/hooks"

const key = (name: string): string => `scroll:${name}`

type State = Readonly<Record<string, unknown>> | null

/** How long scrolling rests before its place is remembered (ms): browsers allow few changes of the history. */
const restMs = 150

let rest: ReturnType<typeof setTimeout> | undefined

/** Remembers a place in the current entry of the history. */
export const remember = (name: string, offset: number): void => {
  clearTimeout(rest)
  const { href } = location
  rest = setTimeout(() => {
    if (location.href === href) history.replaceState({ ...(history.state as State), [key(name)]: offset }, "")
  }, restMs)
}

/** The place that the current entry of the history has; undefined if it is new. */
export const recall = (name: string): number | undefined => {
  const value = (history.state as State)?.[key(name)]
  return typeof value === "number" ? value : undefined
}

/** Keeps how far the window is scrolled. `isReady` says whether the rows are there. */
export const useWindowScroll = (name: string, isReady: boolean): void => {
  useLayoutEffect(() => {
    const offset = isReady ? recall(name) : undefined
    if (offset !== undefined) scrollTo(0, offset)
  }, [isReady])
  useEffect(() => {
    const update = () => remember(name, scrollY)
    addEventListener("scroll", update, { passive: true })
    return () => removeEventListener("scroll", update)
  }, [])
}
