/** The steps of a session: what its agents did between the calls, if tracing tells it. */
import { useEffect, useRef, useState } from "preact/hooks"
import { type ServerError, toError, api } from "../../server/Client.ts"
import type { Step } from "../../server/Types.ts"

/** Rows of a page. The first is small: most sessions have no steps. */
const firstLimit = 100
const nextLimit = 1_000

/** Pages at the end that are read again when there may be more: an agent's step comes when it has ended, and began before others. */
const pagesAgain = 2

/** How long after a call steps are read again (ms): those of one post are recorded after its calls. */
const settleMs = 1_000

interface Page {
  /** Where it begins. */
  readonly cursor: string | undefined
  readonly steps: ReadonlyArray<Step>
  /** How many more are damaged. */
  readonly damaged: number
}

export interface Steps {
  readonly steps: ReadonlyArray<Step>
  readonly damaged: number
  readonly error: ServerError | undefined
  readonly isLoading: boolean
  readonly again: () => void
}

interface Wanted {
  /** Whether the calls are there: they come first. */
  readonly isReady: boolean
  /** Another one says that there may be more steps than were read. */
  readonly version: string
  /** Whether there may be some later where there were none: sessions without steps are asked about once. */
  readonly mayCome: boolean
}

const shownOf = (pages: ReadonlyArray<Page>) => ({
  steps: pages.flatMap(({ steps }) => steps),
  damaged: pages.reduce((sum, { damaged }) => sum + damaged, 0)
})

const nothing = { ...shownOf([]), error: undefined, isLoading: true }

/** Of one session: the page of another one begins anew. */
export const useSteps = (session: string, { isReady, mayCome, version }: Wanted): Steps => {
  const [state, setState] = useState<Omit<Steps, "again">>(nothing)
  const [round, setRound] = useState(0)
  const known = useRef<ReadonlyArray<Page>>([])
  useEffect(() => {
    if (!isReady) return
    const aborter = new AbortController()
    const { signal } = aborter
    const before = known.current
    if (before.length > 0 && !mayCome && before.every(({ steps }) => steps.length === 0)) return
    const read = async () => {
      const pages = before.slice(0, Math.max(0, before.length - pagesAgain))
      let cursor = before[pages.length]?.cursor
      do {
        const limit = pages.length === 0 ? firstLimit : nextLimit
        const page = await api.listSessionSteps({ session, cursor, limit }, { signal })
        pages.push({ cursor, steps: page.steps, damaged: page.damaged_steps })
        cursor = page.next_cursor ?? undefined
        // What was there is shown until as much was read again.
        if (pages.length < before.length && cursor !== undefined) continue
        known.current = [...pages]
        setState({ ...shownOf(pages), error: undefined, isLoading: cursor !== undefined })
      } while (cursor !== undefined)
    }
    const failed = (error: unknown) => {
      if (!signal.aborted) setState((state) => ({ ...state, error: toError(error), isLoading: false }))
    }
    const timer = setTimeout(() => void read().catch(failed), before.length === 0 ? 0 : settleMs)
    return () => {
      clearTimeout(timer)
      aborter.abort()
    }
  }, [isReady, version, round])
  return { ...state, again: () => setRound((round) => round + 1) }
}
