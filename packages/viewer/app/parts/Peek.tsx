/** What a row leads to, beside the list: it is looked at without leaving the page. Escape closes it. */
import type { ComponentChildren } from "preact"
import { useKeys } from "../keyboard/Keys.ts"

interface Props {
  readonly title: ComponentChildren
  /** The place that the row leads to. */
  readonly href: string
  readonly close: () => void
  readonly children: ComponentChildren
}

export const Peek = ({ children, close, href, title }: Props) => {
  useKeys([{ keys: "Escape", does: "Close the preview", run: close }])
  return (
    <aside class="peek" aria-label="Preview">
      <div class="peek-head">
        <h2>
          <a href={href}>{title}</a>
        </h2>
        <button type="button" class="quiet" onClick={close} aria-label="Close the preview">
          ✕
        </button>
      </div>
      <div class="peek-body" tabIndex={0} role="region" aria-label="What was said">
        {children}
      </div>
    </aside>
  )
}
