/** `⌘K`: jumps to a page, a session, an agent, a person, a fingerprint, or to an id that is pasted. */
import { useEffect, useMemo, useState } from "preact/hooks"
import { isComposing } from "../keyboard/KeyName.ts"
import { Dialog } from "../parts/Dialog.tsx"
import * as Route from "../route/Route.ts"
import { Plain } from "../text/Plain.tsx"
import * as Words from "../text/Words.ts"
import type * as Targets from "./Targets.ts"

const load = () => import("./Targets.ts")

/** Characters of a name that are shown. */
const maxName = 90

/** Its field is there at once, so that no key is lost while the places are loaded. */
export const Palette = ({ close }: { readonly close: () => void }) => {
  const [all, setAll] = useState<ReadonlyArray<Targets.Target>>([])
  const [loaded, setLoaded] = useState<{ readonly find: typeof Targets.find }>()
  const [text, setText] = useState("")
  const [selected, setSelected] = useState(0)
  useEffect(() => {
    const aborter = new AbortController()
    void load().then(({ find, read }) => {
      if (aborter.signal.aborted) return
      setLoaded({ find })
      read(aborter.signal, (targets) => setAll((all) => [...all, ...targets]))
    })
    return () => aborter.abort()
  }, [])
  const found = useMemo(() => loaded?.find(all, text) ?? [], [all, loaded, text])
  const index = Math.min(selected, found.length - 1)
  useEffect(() => document.querySelector(`#target-${index}`)?.scrollIntoView({ block: "nearest" }), [index])
  const open = (target: Targets.Target | undefined) => {
    if (target === undefined) return
    close()
    Route.go(target.place)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by !== undefined) setSelected((index + by + found.length) % Math.max(1, found.length))
    else if (event.key === "Enter") open(found[index])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Go to" close={close}>
      <input
        class="palette"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="targets"
        aria-activedescendant={found.length === 0 ? undefined : `target-${index}`}
        aria-label="A page, a session, an agent, a person, or an id"
        placeholder="A page, a session, an agent, a person, or an id"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setSelected(0)
        }}
        onKeyDown={onKeyDown}
        autofocus
      />
      <ul id="targets" class="targets" role="listbox" aria-label="Places">
        {found.map((target, at) => (
          <li
            key={target.place}
            id={`target-${at}`}
            role="option"
            aria-selected={at === index}
            onClick={() => open(target)}
            onPointerMove={() => setSelected(at)}
          >
            <small>{target.kind}</small>
            <Plain as="span" text={Words.line(target.name, maxName)} />
            <Plain as="small" class="about" text={Words.line(target.about, maxName)} />
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
