/** A modal dialog of the browser: it holds the focus, and Escape closes it. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"

interface Props {
  readonly title: string
  readonly close: () => void
  readonly children: ComponentChildren
}

export const Dialog = ({ children, close, title }: Props) => {
  const ref = useRef<HTMLDialogElement>(null)
  // Before the page is painted: what is typed at once is for it.
  useLayoutEffect(() => {
    const dialog = ref.current!
    const opener = document.activeElement
    dialog.showModal()
    return () => {
      dialog.close()
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      aria-label={title}
      // The event comes later than the call: by then another one may be open in its place.
      onClose={() => ref.current !== null && close()}
      onClick={({ currentTarget, target }) => target === currentTarget && close()}
    >
      <div class="dialog">
        <div class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="quiet" onClick={close} aria-label="Close">
            ✕
          </button>
        </div>
        {children}
      </div>
    </dialog>
  )
}
