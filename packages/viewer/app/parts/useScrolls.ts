/** Marks an element with `data-scrolls` while its content is wider than it is. */
import type { RefObject } from "preact"
import { useEffect, useRef } from "preact/hooks"

export const useScrolls = <A extends Element>(): RefObject<A | null> => {
  const ref = useRef<A>(null)
  useEffect(() => {
    const element = ref.current!
    const update = () => element.toggleAttribute("data-scrolls", element.scrollWidth > element.clientWidth)
    const observer = new ResizeObserver(update)
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  }, [])
  return ref
}
