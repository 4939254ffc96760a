/**
 * What the keys do. Each page registers its own; the newest registration wins. `g s` is two keys, one after the other. Keys
 * without a modifier do nothing in a field, and can be switched off.
 */
import { useLayoutEffect, useRef } from "preact/hooks"
import { isComposing, keyName } from "./KeyName.ts"
import { shortcuts } from "../settings/Reading.ts"

export interface Binding {
  /** Such as `j`, `N`, `Enter`, `g s`, `Mod+k`. `Mod` is ⌘ on a Mac and Ctrl elsewhere. */
  readonly keys: string
  /** A sentence for the page of all keys. */
  readonly does: string
  /** Returning false leaves the key to the browser. */
  readonly run: () => unknown
}

const registered: Array<{ readonly bindings: ReadonlyArray<Binding> }> = []

/** How long the second of two keys may take (ms). */
const chordMs = 1_500

let pending: { readonly key: string; readonly atMs: number } | undefined

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select"))

export const isMac = /^(?:Mac|iP)/.test(navigator.platform)

/** Activating a control by Enter or space is the browser's. */
const isOfControl = (event: KeyboardEvent): boolean =>
  (event.key === "Enter" || event.key === " ") &&
  event.target instanceof HTMLElement &&
  event.target.closest("button, a, summary, [role=button]") !== null

/** To be called when keys select a row: what was clicked before would take the `Enter` that is meant for the row. */
export const blurControl = (): void => {
  const { activeElement } = document
  if (activeElement instanceof HTMLElement && activeElement.matches("button, a, summary")) activeElement.blur()
}

const find = (keys: string): Binding | undefined => {
  for (const { bindings } of registered.toReversed()) {
    const found = bindings.find((binding) => binding.keys === keys)
    if (found !== undefined) return found
  }
  return undefined
}

const isDialogOpen = (): boolean => document.querySelector("dialog[open]") !== null

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || isComposing(event)) return
  const name = keyName(event, isMac)
  if (name === undefined) return
  const isPlain = !name.startsWith("Mod+") && name !== "Escape"
  if (isDialogOpen()) return
  if (isPlain && (isField(event.target) || isOfControl(event) || shortcuts.get() === "off")) return
  if (name === "Escape" && isField(event.target)) return (event.target as HTMLElement).blur()
  const first = pending !== undefined && event.timeStamp - pending.atMs < chordMs ? pending.key : undefined
  pending = undefined
  const binding = (first === undefined ? undefined : find(`${first} ${name}`)) ?? find(name)
  if (binding !== undefined) {
    if (binding.run() !== false) event.preventDefault()
    return
  }
  if (isPlain && registered.some(({ bindings }) => bindings.some(({ keys }) => keys.startsWith(`${name} `)))) {
    pending = { key: name, atMs: event.timeStamp }
    event.preventDefault()
  }
})

/** Registers keys while a component is shown. */
export const useKeys = (bindings: ReadonlyArray<Binding>): void => {
  const latest = useRef(bindings)
  latest.current = bindings
  // Before the page is painted: a person may be quick.
  useLayoutEffect(() => {
    const own = {
      get bindings() {
        return latest.current
      }
    }
    registered.push(own)
    return () => void registered.splice(registered.indexOf(own), 1)
  }, [])
}

/** All keys that do something now. */
export const all = (): ReadonlyArray<Binding> => {
  const byKeys = new Map<string, Binding>()
  for (const { bindings } of registered) for (const binding of bindings) byKeys.set(binding.keys, binding)
  return Array.from(byKeys.values())
}
