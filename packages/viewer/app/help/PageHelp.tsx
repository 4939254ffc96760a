/** Beside the title of a page: what it shows, and what its figures mean. `texts.ts` has the texts, which are loaded when one is opened. */
import { useEffect, useRef, useState } from "preact/hooks"
import { useLazy } from "../parts/useLazy.ts"
import * as Route from "../route/Route.ts"

const load = () => import("./HelpText.tsx").then(({ HelpText }) => HelpText)

export const PageHelp = () => {
  const { path } = Route.useRoute()
  const [page = "sessions", ...rest] = path
  const [isOpen, setOpen] = useState(false)
  const HelpText = useLazy(load, isOpen)
  const element = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (!isOpen) return undefined
    const closeOutside = ({ target }: Event) => {
      if (element.current?.contains(target as Node) === false) setOpen(false)
    }
    addEventListener("pointerdown", closeOutside)
    return () => removeEventListener("pointerdown", closeOutside)
  }, [isOpen])
  return (
    <details
      ref={element}
      class="help"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return
        // It would leave the page.
        event.preventDefault()
        setOpen(false)
        event.currentTarget.querySelector("summary")?.focus()
      }}
    >
      <summary aria-label="What this page shows" title="What this page shows">
        ?
      </summary>
      <div class="help-text">{HelpText !== undefined && <HelpText page={`${page} ${rest.length}`} />}</div>
    </details>
  )
}
