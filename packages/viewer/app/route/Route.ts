/**
 * Where the person is: everything is in the fragment, `#/sessions/s?call=…`, so that no server sees it, and the pages work below
 * every path. Going back restores the scroll, because each entry of the history has its place.
 */
import { useEffect, useState } from "preact/hooks"

export interface Route {
  /** Decoded. `#/sessions/a%2Fb` is `["sessions", "a/b"]`. */
  readonly path: ReadonlyArray<string>
  readonly query: URLSearchParams
}

export type Query = Readonly<Record<string, string | number | null | undefined>>

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

const parse = (hash: string): Route => {
  const [path = "", ...query] = hash.replace(/^#\/?/, "").split("?")
  return {
    path: path.split("/").filter(Boolean).map(decode),
    query: new URLSearchParams(query.join("?"))
  }
}

/** The fragment of a place. Values that are null, undefined or empty are left out. */
export const to = (path: ReadonlyArray<string>, query: Query = {}): string => {
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "")
  const text = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString()
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`
}

const listeners = new Set<() => void>()
const changed = () => {
  for (const listener of Array.from(listeners)) listener()
}
addEventListener("popstate", changed)

// A link to where one is would replace the entry by one without its state.
addEventListener("click", (event) => {
  const { altKey, ctrlKey, defaultPrevented, metaKey, shiftKey, target } = event
  if (defaultPrevented || altKey || ctrlKey || metaKey || shiftKey) return
  const link = (target as Element).closest<HTMLAnchorElement>('a[href^="#"]')
  if (link !== null && link.hash === location.hash) event.preventDefault()
})

/** Each entry of the history knows the place that it was gone to from. Only a new one has no state. */
const fromKey = "from"
const note = (from: string | undefined) => {
  if (history.state === null) history.replaceState({ [fromKey]: from }, "")
}
note(undefined)
addEventListener("hashchange", ({ oldURL }) => {
  note(new URL(oldURL).hash)
  changed()
})

/** Goes to another place, which can be gone back from. */
export const go = (hash: string): void => {
  if (hash !== location.hash) location.hash = hash
}

/** The browser goes back later: until then the place is that before. */
let isGoingBack = false
addEventListener("popstate", () => (isGoingBack = false))

/** Goes back, if the place before is one that `isAbove` this one, which finds it as it was left; otherwise on to `place`. */
export const back = (place: string, isAbove: (path: Route["path"]) => boolean): void => {
  if (isGoingBack) return
  const from: unknown = (history.state as Readonly<Record<string, unknown>> | null)?.[fromKey]
  if (typeof from !== "string" || !isAbove(parse(from).path)) return go(place)
  isGoingBack = true
  history.back()
}

/** Changes what the current place says, without an entry of its own in the history. */
const replace = (hash: string): void => {
  if (hash === location.hash) return
  history.replaceState(history.state, "", hash)
  changed()
}

/** Changes parts of the query of the current place. */
export const amend = (changes: Query, how: "go" | "replace" = "replace"): void => {
  const { path, query } = current()
  const next = to(path, { ...Object.fromEntries(query), ...changes })
  if (how === "go") go(next)
  else replace(next)
}

export const current = (): Route => parse(location.hash)

export const useRoute = (): Route => {
  const [route, setRoute] = useState(current)
  useEffect(() => {
    const update = () => setRoute(current())
    listeners.add(update)
    // The place may have changed after the component was rendered.
    update()
    return () => void listeners.delete(update)
  }, [])
  return route
}
