/** What a component knows of an answer that it asked for. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { type ServerError, toError } from "./Client.ts"

export interface Asked<A> {
  /** The last answer, also while a newer one is awaited. */
  readonly value: A | undefined
  readonly error: ServerError | undefined
  readonly isLoading: boolean
  readonly again: () => void
}

/** Asks when it is first shown, and again when a part of `key` changes; what was asked before is given up. */
export const useAnswer = <A>(ask: (signal: AbortSignal) => Promise<A>, key: string): Asked<A> => {
  const [state, setState] = useState<{ readonly key: string; readonly value?: A; readonly error?: ServerError }>({
    key
  })
  const [round, setRound] = useState(0)
  const latest = useRef(ask)
  latest.current = ask
  useEffect(() => {
    const aborter = new AbortController()
    latest.current(aborter.signal).then(
      (value) => !aborter.signal.aborted && setState({ key, value }),
      (error: unknown) => !aborter.signal.aborted && setState({ key, error: toError(error) })
    )
    return () => aborter.abort()
  }, [key, round])
  const again = useCallback(() => setRound((round) => round + 1), [])
  const isCurrent = state.key === key
  return {
    value: isCurrent ? state.value : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: !isCurrent || (state.value === undefined && state.error === undefined),
    again
  }
}
