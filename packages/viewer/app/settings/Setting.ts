/** What a person has chosen, kept in this browser. Never content of events. */
import { useEffect, useState } from "preact/hooks"

const prefix = "tachograph."

const read = (name: string): string | null => {
  try {
    return localStorage.getItem(prefix + name)
  } catch {
    // Storage is blocked: choices last until the page is closed.
    return null
  }
}

export interface Setting<A extends string> {
  readonly get: () => A
  readonly set: (value: A) => void
  /** The value, with a component that follows it. */
  readonly use: () => A
}

/** One of `values`, the first by default. */
export const make = <A extends string>(name: string, values: readonly [A, ...ReadonlyArray<A>]): Setting<A> => {
  const stored = read(name)
  let current = values.find((value) => value === stored) ?? values[0]
  const listeners = new Set<(value: A) => void>()
  return {
    get: () => current,
    set: (value) => {
      current = value
      try {
        localStorage.setItem(prefix + name, value)
      } catch {
        // As above.
      }
      for (const listener of listeners) listener(value)
    },
    use: () => {
      const [value, setValue] = useState(current)
      useEffect(() => {
        listeners.add(setValue)
        setValue(() => current)
        return () => void listeners.delete(setValue)
      }, [])
      return value
    }
  }
}
