import { useEffect } from "preact/hooks"

/** Calls back with what is asked for, unless that is asked for anew first, because a part of `key` has changed. */
export const useResolved = <A>(ask: () => Promise<A>, use: (value: A) => void, key: ReadonlyArray<unknown>): void =>
  useEffect(() => {
    let isCurrent = true
    void ask().then((value) => isCurrent && use(value))
    return () => void (isCurrent = false)
  }, key)
