/** A button that says what is chosen, and shows what else can be. Escape, a click elsewhere and moving the focus away close it. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { Plain } from "../text/Plain.tsx"

interface Props {
  /** What is chosen here. */
  readonly label: string
  readonly value: string
  readonly children: (close: () => void) => ComponentChildren
}

export const Menu = ({ children, label, value }: Props) => {
  const [isOpen, setOpen] = useState(false)
  const ref = useRef<HTMLDivElement>(null)
  const close = () => setOpen(false)
  useEffect(() => {
    if (!isOpen) return
    const onPointer = ({ target }: Event) => !ref.current!.contains(target as Node) && close()
    addEventListener("pointerdown", onPointer)
    return () => removeEventListener("pointerdown", onPointer)
  }, [isOpen])
  return (
    <div
      class="menu"
      ref={ref}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return
        event.preventDefault()
        close()
        ref.current!.querySelector("button")!.focus()
      }}
      onFocusOut={({ relatedTarget }) =>
        relatedTarget !== null && !ref.current!.contains(relatedTarget as Node) && close()
      }
    >
      <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <small>{label}</small> <Plain as="span" class="value" text={value} />
      </button>
      {isOpen && <div class="menu-panel">{children(close)}</div>}
    </div>
  )
}

interface ChoiceProps {
  readonly isChosen: boolean
  readonly choose: () => void
  readonly children: ComponentChildren
}

export const Choice = ({ children, choose, isChosen }: ChoiceProps) => (
  <button type="button" class="quiet choice" aria-pressed={isChosen} onClick={choose}>
    {children}
  </button>
)
