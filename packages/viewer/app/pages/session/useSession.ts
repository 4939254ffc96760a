/** Everything of a session that is shown, while its page is shown. */
import { useEffect, useRef, useState } from "preact/hooks"
import { initial, SessionReader, type SessionState } from "./SessionReader.ts"

export interface UsedSession extends SessionState {
  /** Reads all of it anew. */
  readonly again: () => void
  /** Reads what is missing. */
  readonly resume: () => void
}

export const useSession = (id: string): UsedSession => {
  const [state, setState] = useState<SessionState>(initial)
  const [round, setRound] = useState(0)
  const reader = useRef<SessionReader>(undefined)
  useEffect(() => {
    const aborter = new AbortController()
    setState(initial)
    reader.current = new SessionReader(id, aborter.signal, setState)
    void reader.current.run()
    return () => aborter.abort()
  }, [id, round])
  return { ...state, again: () => setRound((round) => round + 1), resume: () => reader.current?.resume() }
}
