/** One line that opens. */
import type { ComponentChildren } from "preact"
import { useContext, useState } from "preact/hooks"
import { Sought } from "../../find/Sought.ts"

interface FoldProps {
  readonly isOpen: boolean
  readonly class: string
  readonly summary: ComponentChildren
  readonly children: () => ComponentChildren
}

/** Its contents exist only while it is open. */
export const Fold = ({ children, class: name, isOpen, summary }: FoldProps) => {
  const [own, setOwn] = useState<{ readonly given: boolean; readonly isOpen: boolean }>({ given: isOpen, isOpen })
  const isSought = useContext(Sought) !== ""
  const isShown = isSought || (own.given === isOpen ? own.isOpen : isOpen)
  return (
    <details
      class={name}
      open={isShown}
      onToggle={({ currentTarget }) => {
        if (!isSought) setOwn({ given: isOpen, isOpen: currentTarget.open })
      }}
    >
      <summary>{summary}</summary>
      {isShown && <div class="fold">{children()}</div>}
    </details>
  )
}
