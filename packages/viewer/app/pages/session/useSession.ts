/** Everything of a session that is shown: its facts, calls and messages, read page by page, and followed while it grows. */
import { useEffect, useState } from "preact/hooks"
import * as Client from "../../server/Client.ts"
import { follow } from "../../server/follow.ts"
import type { Call, CallPage, Message, MessagePage, Session } from "../../server/Types.ts"

/** Rows of a page: the first is small, so that something is on screen soon. */
const firstLimit = 100
const nextLimit = 1_000

export interface SessionState {
  readonly session: Session | undefined
  readonly calls: ReadonlyArray<Call>
  readonly messages: ReadonlyArray<Message>
  readonly error: Client.ServerError | undefined
  /** Whether pages are still to come that existed when the session was opened. */
  readonly isLoading: boolean
}

const initial: SessionState = { session: undefined, calls: [], messages: [], error: undefined, isLoading: true }

class Reader {
  #state = initial
  readonly #id: string
  readonly #signal: AbortSignal
  readonly #show: (state: SessionState) => void

  constructor(id: string, signal: AbortSignal, show: (state: SessionState) => void) {
    this.#id = id
    this.#signal = signal
    this.#show = show
  }

  #set(change: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...change }
    if (!this.#signal.aborted) this.#show(this.#state)
  }

  #get<A>(parts: ReadonlyArray<string>, query: Client.Query = {}): Promise<A> {
    return Client.get<A>(["sessions", this.#id, ...parts], query, this.#signal)
  }

  async #calls(query: Client.Query): Promise<number> {
    let cursor: string | null = null
    let limit = firstLimit
    let added = 0
    do {
      const page: CallPage = await this.#get(["calls"], { ...query, limit, cursor })
      added += page.calls.length
      if (page.calls.length > 0) this.#set({ calls: [...this.#state.calls, ...page.calls] })
      cursor = page.next_cursor
      limit = nextLimit
    } while (cursor !== null)
    return added
  }

  async #messages(query: Client.Query): Promise<void> {
    let cursor: string | null = null
    let limit = firstLimit
    do {
      const page: MessagePage = await this.#get(["messages"], { ...query, limit, cursor })
      if (page.messages.length > 0) this.#set({ messages: [...this.#state.messages, ...page.messages] })
      cursor = page.next_cursor
      limit = nextLimit
    } while (cursor !== null)
  }

  /** Reads what came after the last call that is known. */
  async #newer(): Promise<void> {
    const added = await this.#calls({ after_event: this.#state.calls.at(-1)?.event_id })
    if (added === 0) return
    await this.#messages({ after_number: this.#state.messages.at(-1)?.number ?? 0 })
    this.#set({ session: await this.#get<Session>([]) })
  }

  /** One reading at a time, and once more if calls came meanwhile. */
  #follow(): Promise<void> {
    let reading: Promise<void> | undefined
    let isStale = false
    const update = async () => {
      do {
        isStale = false
        await this.#newer().catch(() => {})
      } while (isStale && !this.#signal.aborted)
      reading = undefined
    }
    const onEvents = () => {
      isStale = true
      reading ??= update()
    }
    // What was recorded between reading and following.
    const onStart = () => this.#newer()
    return follow({ session: this.#id }, this.#signal, { onStart, onEvents })
  }

  async run(): Promise<void> {
    try {
      await Promise.all([
        this.#get<Session>([]).then((session) => this.#set({ session })),
        this.#calls({}),
        this.#messages({})
      ])
      this.#set({ isLoading: false })
    } catch (error) {
      if (this.#signal.aborted) return
      const known = error instanceof Client.ServerError ? error : new Client.ServerError(0, "offline")
      return this.#set({ error: known, isLoading: false })
    }
    await this.#follow()
  }
}

export const useSession = (id: string): SessionState & { readonly again: () => void } => {
  const [state, setState] = useState<SessionState>(initial)
  const [round, setRound] = useState(0)
  useEffect(() => {
    const aborter = new AbortController()
    setState(initial)
    void new Reader(id, aborter.signal, setState).run()
    return () => aborter.abort()
  }, [id, round])
  return { ...state, again: () => setRound((round) => round + 1) }
}
