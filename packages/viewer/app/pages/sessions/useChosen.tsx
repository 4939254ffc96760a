/** The sessions that a person has selected, of those that are shown. */
import { useRef, useState } from "preact/hooks"
import type { Column } from "../../parts/Table.tsx"
import { useKeys } from "../../keyboard/Keys.ts"
import type { Session } from "../../server/Types.ts"
import { plain } from "../../text/Hidden.ts"

export interface Chosen {
  readonly rows: ReadonlyArray<Session>
  /** Whether any was since the page was opened. */
  readonly everChosen: boolean
  readonly column: Column<Session>
  readonly all: () => void
  readonly none: () => void
}

/** `selection` is the index of the row that keys are at; -1 for none. */
export const useChosen = (rows: ReadonlyArray<Session>, selection: number): Chosen => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [everChosen, setEverChosen] = useState(false)
  /** From where a range goes. */
  const last = useRef<string>(undefined)
  const chosen = rows.filter(({ session }) => ids.has(session))
  const set = (next: ReadonlySet<string>) => {
    setIds(next)
    if (next.size > 0) setEverChosen(true)
  }
  const all = () => set(new Set(rows.map(({ session }) => session)))
  const none = () => set(new Set())
  /** One row, or all from the last one to it. */
  const toggle = (index: number, isRange: boolean) => {
    const row = rows[index]
    if (row === undefined) return
    const from = isRange ? rows.findIndex(({ session }) => session === last.current) : -1
    const [low, high] = from === -1 ? [index, index] : [Math.min(from, index), Math.max(from, index)]
    const isOn = isRange || !ids.has(row.session)
    const next = new Set(ids)
    for (const { session } of rows.slice(low, high + 1)) {
      if (isOn) next.add(session)
      else next.delete(session)
    }
    last.current = row.session
    set(next)
  }
  useKeys([
    { keys: "x", does: "Select the session, or not", run: () => toggle(selection, false) },
    { keys: "X", does: "Select all sessions from the last one to this", run: () => toggle(selection, true) },
    { keys: "A", does: "Select all sessions that are shown", run: all },
    { keys: "Escape", does: "Select none", run: () => chosen.length > 0 && none() }
  ])
  const column: Column<Session> = {
    title: (
      <input
        type="checkbox"
        aria-label="Select all that are shown"
        title="Select all that are shown (A)"
        checked={chosen.length > 0 && chosen.length === rows.length}
        indeterminate={chosen.length > 0 && chosen.length < rows.length}
        onClick={() => (chosen.length === rows.length ? none() : all())}
      />
    ),
    class: "choose",
    of: (row) => (
      <input
        type="checkbox"
        aria-label={`Select ${plain(row.session)}`}
        title="Select (x), with Shift all from the last one (X)"
        checked={ids.has(row.session)}
        // With Shift, the text between two clicks would be selected.
        onMouseDown={(event) => event.shiftKey && event.preventDefault()}
        onClick={({ shiftKey }) => toggle(rows.indexOf(row), shiftKey)}
      />
    )
  }
  return { rows: chosen, everChosen, column, all, none }
}
