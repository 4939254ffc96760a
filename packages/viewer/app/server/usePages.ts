/** A list that is read page by page, and whose beginning is read again while it is looked at. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { ServerError } from "./Client.ts"

interface Page<A> {
  readonly rows: ReadonlyArray<A>
  readonly next: string | null
}

interface State<A> {
  readonly key: string
  readonly rows: ReadonlyArray<A>
  readonly next: string | null
  readonly isLoading: boolean
  readonly error: ServerError | undefined
}

type Read<A> = (cursor: string | null, signal?: AbortSignal) => Promise<Page<A>>

export interface Pages<A> extends Pick<State<A>, "rows" | "isLoading" | "error"> {
  readonly hasMore: boolean
  readonly more: () => void
  readonly again: () => void
}

/** Lists that were left, so that coming back shows them at once, and as far as they were read. */
const left = new Map<string, State<unknown>>()
const keptLists = 4

const keep = (name: string, state: State<unknown>): void => {
  left.delete(name)
  left.set(name, state)
  for (const oldest of left.keys()) if (left.size > keptLists) left.delete(oldest)
}

const empty = <A>(key: string): State<A> => ({ key, rows: [], next: null, isLoading: true, error: undefined })

const toError = (error: unknown): ServerError => (error instanceof ServerError ? error : new ServerError(0, "offline"))

/**
 * `name` is that of the list. `idOf` is what makes two rows the same one. A list with another `key` begins anew. Every `refreshMs` the first page is read
 * again, while the page is visible: its rows come first then.
 */
export const usePages = <A>(
  name: string,
  read: Read<A>,
  idOf: (row: A) => string,
  key: string,
  refreshMs: number | undefined = undefined
): Pages<A> => {
  const initial = (key: string) => (left.get(`${name} ${key}`) as State<A> | undefined) ?? empty<A>(key)
  const [state, setState] = useState<State<A>>(() => initial(key))
  if (state.key === key && state.rows.length > 0) keep(`${name} ${key}`, state as State<unknown>)
  const [round, setRound] = useState(0)
  const latest = useRef({ read, idOf })
  latest.current = { read, idOf }
  const isReading = useRef(false)

  useEffect(() => {
    const aborter = new AbortController()
    const { signal } = aborter
    isReading.current = false
    setState((state) => (state.key === key ? { ...state, isLoading: true, error: undefined } : initial(key)))
    const first = async () => {
      try {
        const page = await latest.current.read(null, signal)
        if (signal.aborted) return
        setState((state) => {
          if (state.rows.length === 0) {
            return { key, rows: page.rows, next: page.next, isLoading: false, error: undefined }
          }
          const ids = new Set(page.rows.map(latest.current.idOf))
          const others = state.rows.filter((row) => !ids.has(latest.current.idOf(row)))
          return { ...state, rows: [...page.rows, ...others], isLoading: false, error: undefined }
        })
      } catch (error) {
        if (!signal.aborted) setState((state) => ({ ...state, isLoading: false, error: toError(error) }))
      }
    }
    void first()
    const timer =
      refreshMs === undefined
        ? undefined
        : setInterval(() => {
            if (!document.hidden) void first()
          }, refreshMs)
    return () => {
      clearInterval(timer)
      aborter.abort()
    }
  }, [key, round, refreshMs])

  const { next } = state
  const more = useCallback(async () => {
    if (isReading.current || next === null) return
    isReading.current = true
    try {
      const page = await latest.current.read(next)
      setState((state) => {
        if (state.key !== key) return state
        const ids = new Set(state.rows.map(latest.current.idOf))
        const fresh = page.rows.filter((row) => !ids.has(latest.current.idOf(row)))
        return { ...state, rows: [...state.rows, ...fresh], next: page.next }
      })
    } catch (error) {
      setState((state) => ({ ...state, error: toError(error) }))
    } finally {
      isReading.current = false
    }
  }, [next, key])

  const again = useCallback(() => setRound((round) => round + 1), [])
  const isCurrent = state.key === key
  return {
    rows: isCurrent ? state.rows : [],
    isLoading: !isCurrent || state.isLoading,
    error: isCurrent ? state.error : undefined,
    hasMore: isCurrent && next !== null,
    more: () => void more(),
    again
  }
}
