/** Erases one after the other, and adds up what the server says of each. */
import type { ErasureReceipt } from "@tachograph/client/api"
import { useEffect, useRef, useState } from "preact/hooks"
import { type ServerError, toError } from "../../server/Client.ts"

export interface Erasure {
  /** How many there are, and how many of them were tried. */
  readonly of: number
  readonly tried: number
  readonly isRunning: boolean
  /** Whether the one that is being erased is the last: what the server does already cannot be stopped. */
  readonly isStopping: boolean
  readonly receipt: ErasureReceipt
  readonly erased: ReadonlyArray<string>
  readonly failed: ReadonlyArray<{ readonly id: string; readonly error: ServerError }>
}

const nothing: ErasureReceipt = { events: 0, sessions: 0, pieces: 0, bytes: 0, damaged: 0 }

const sumOf = (one: ErasureReceipt, other: ErasureReceipt): ErasureReceipt => ({
  events: one.events + other.events,
  sessions: one.sessions + other.sessions,
  pieces: one.pieces + other.pieces,
  bytes: one.bytes + other.bytes,
  damaged: one.damaged + other.damaged
})

/** `onErased` is called with each that is gone. What comes after is left where `stop` was called, or the page is left. */
export const useErasure = (
  erase: (id: string) => Promise<ErasureReceipt>,
  onErased: (id: string) => void = () => {}
) => {
  const [state, setState] = useState<Erasure>()
  const run = useRef({ isStopped: false })
  useEffect(() => () => void (run.current.isStopped = true), [])
  return {
    state,
    stop: () => {
      run.current.isStopped = true
      setState((state) => state && { ...state, isStopping: true })
    },
    clear: () => setState(undefined),
    start: async (ids: ReadonlyArray<string>): Promise<void> => {
      const own = (run.current = { isStopped: false })
      const begun = { of: ids.length, tried: 0, isRunning: true, isStopping: false }
      let now: Erasure = { ...begun, receipt: nothing, erased: [], failed: [] }
      setState(now)
      for (const id of ids) {
        try {
          const receipt = await erase(id)
          now = { ...now, receipt: sumOf(now.receipt, receipt), erased: [...now.erased, id] }
          onErased(id)
        } catch (error) {
          now = { ...now, failed: [...now.failed, { id, error: toError(error) }] }
        }
        now = { ...now, tried: now.tried + 1, isRunning: !own.isStopped && now.tried + 1 < ids.length }
        // Another run has a receipt of its own.
        if (own === run.current) setState(now)
        if (own.isStopped) return
      }
    }
  }
}
