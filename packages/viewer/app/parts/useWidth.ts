/** How wide an element is (pixels); 0 before it is shown. */
import { useEffect, useRef, useState } from "preact/hooks"

export const useWidth = <A extends Element>() => {
  const ref = useRef<A>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width))
    observer.observe(ref.current!)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}
