/** Loads the next page of a list when it comes near. */
import { useEffect, useRef } from "preact/hooks"

export const More = ({ load }: { readonly load: () => void }) => {
  const ref = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && load(),
      { rootMargin: "600px" }
    )
    observer.observe(ref.current!)
    return () => observer.disconnect()
  }, [load])
  return (
    <button type="button" class="more" ref={ref} onClick={load}>
      More
    </button>
  )
}
