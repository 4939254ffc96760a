/** A find of our own, because only the rows near the visible part exist. `Ctrl+F` twice is the browser's. */
import { useLayoutEffect, useRef } from "preact/hooks"
import { isComposing, keyName } from "../keyboard/KeyName.ts"
import { isMac } from "../keyboard/Keys.ts"

interface Props {
  readonly words: string
  readonly set: (words: string) => void
  /** From 0; -1 where nothing is found. */
  readonly index: number
  readonly count: number
  readonly step: (by: number) => void
  readonly close: () => void
}

export const FindBar = ({ close, count, index, set, step, words }: Props) => {
  const ref = useRef<HTMLInputElement>(null)
  // Before the browser paints: what is typed right after `Ctrl+F` belongs to this field.
  useLayoutEffect(() => ref.current!.select(), [])
  return (
    <div class="find" role="search">
      <input
        ref={ref}
        type="text"
        aria-label="Find in this page"
        placeholder="Find"
        spellcheck={false}
        value={words}
        onInput={({ currentTarget }) => set(currentTarget.value)}
        onKeyDown={(event) => {
          if (isComposing(event)) return
          if (event.key === "Enter") step(event.shiftKey ? -1 : 1)
          else if (event.key === "Escape") close()
          // The second time, the browser's own find opens.
          else if (keyName(event, isMac) === "Mod+f") return event.stopPropagation()
          else return
          event.preventDefault()
          event.stopPropagation()
        }}
      />
      <output aria-live="polite">{words === "" ? "" : `${index + 1} of ${count}`}</output>
      <button type="button" class="quiet" aria-label="Previous" onClick={() => step(-1)}>
        ↑
      </button>
      <button type="button" class="quiet" aria-label="Next" onClick={() => step(1)}>
        ↓
      </button>
      <button type="button" class="quiet" aria-label="Close the find" onClick={close}>
        ✕
      </button>
    </div>
  )
}
