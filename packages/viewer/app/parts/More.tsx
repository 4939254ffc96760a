/** Loads the next page of a list when it comes near, unless that failed: then a person says when. */
import { useEffect, useRef, useState } from "preact/hooks"
import type { ServerError } from "../server/Client.ts"
import { Empty, Failed } from "./States.tsx"

interface Props {
  readonly pages: {
    readonly hasMore: boolean
    readonly moreError: ServerError | undefined
    readonly isReadingMore: boolean
    readonly more: () => void
  }
}

export const More = ({ pages: { hasMore, more, moreError } }: Props) => {
  if (!hasMore) return null
  return moreError === undefined ? <Next load={more} /> : <Again error={moreError} load={more} />
}

/** Where a page ended early and had no row, although there may be some: a page looks at 10,000 only. */
export const SoFar = ({ pages, title }: Props & { readonly title: string }) => (
  <Empty title={title}>
    <p>Only the latest were looked at.</p>
    {pages.moreError === undefined ? (
      <button type="button" onClick={pages.more} disabled={pages.isReadingMore}>
        Look further
      </button>
    ) : (
      <Again error={pages.moreError} load={pages.more} />
    )}
  </Empty>
)

const Next = ({ load }: { readonly load: () => void }) => {
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

/** From when the server wants to be asked again, it can be. */
const Again = ({ error, load }: { readonly error: ServerError; readonly load: () => void }) => {
  const [isEarly, setEarly] = useState(true)
  useEffect(() => {
    setEarly(true)
    const timer = setTimeout(() => setEarly(false), Math.max(0, (error.notBefore ?? 0) - Date.now()))
    return () => clearTimeout(timer)
  }, [error])
  return isEarly ? <Failed error={error} /> : <Failed error={error} again={load} />
}
