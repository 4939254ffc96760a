/** Reads a session: its facts, calls and messages page by page, and then what is recorded while it is looked at. */
import * as Client from "../../server/Client.ts"
import * as Damage from "../../server/Damage.ts"
import { follow } from "../../server/follow.ts"
import * as Retry from "../../server/Retry.ts"
import type { Call, Message, Session } from "../../server/Types.ts"

/** Rows of a page: the first is small, so that something is on screen soon. */
const firstLimit = 100
const nextLimit = 1_000

export interface SessionState {
  readonly session: Session | undefined
  readonly calls: ReadonlyArray<Call>
  readonly messages: ReadonlyArray<Message>
  /** Why what is missing could not be read: nothing was read at all, or what is shown is not all. */
  readonly error: Client.ServerError | undefined
  /** Whether pages are still to come that existed when the session was opened. */
  readonly isLoading: boolean
  /** Whether the server says when something is recorded. */
  readonly isConnected: boolean
}

export const initial: SessionState = {
  session: undefined,
  calls: [],
  messages: [],
  error: undefined,
  isLoading: true,
  isConnected: true
}

/** Where a list goes on. It moves with each page that was read, so that a read that failed goes on where it failed. */
interface Place {
  readonly query: {
    readonly after_event?: string | undefined
    readonly after_number?: number | undefined
    readonly cursor?: string
  }
  readonly limit: number
}

export class SessionReader {
  #state = initial
  readonly #id: string
  readonly #signal: AbortSignal
  readonly #show: (state: SessionState) => void
  #callsAt: Place = { query: {}, limit: firstLimit }
  #messagesAt: Place = { query: {}, limit: firstLimit }
  #isReading = false
  /** Whether something may have been recorded since what is being read now was asked for. */
  #isStale = false
  /** Called after each try to read all. */
  #onTried: () => void = () => {}
  /** Ends a pause between two tries. */
  #pause = new AbortController()

  constructor(id: string, signal: AbortSignal, show: (state: SessionState) => void) {
    this.#id = id
    this.#signal = signal
    this.#show = show
  }

  #set(change: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...change }
    if (!this.#signal.aborted) this.#show(this.#state)
  }

  #addCalls(calls: ReadonlyArray<Call>): void {
    if (calls.length > 0) this.#set({ calls: [...this.#state.calls, ...calls] })
  }

  /** Reads calls from its place to the end, past those that are damaged. */
  async #readCalls(): Promise<void> {
    for (;;) {
      const { query, limit } = this.#callsAt
      const ask = (limit: number) =>
        Client.api.listSessionCalls({ session: this.#id, ...query, limit }, { signal: this.#signal })
      const { limit: asked, page } = await Damage.readPage(ask, limit)
      if (Damage.isDamaged(page)) {
        this.#addCalls([Damage.callOf(page.damaged, this.#id)])
        this.#callsAt = { query: { after_event: page.damaged }, limit: nextLimit }
        continue
      }
      this.#addCalls(page.calls)
      // Small pages until the damaged call is passed.
      if (page.next_cursor !== null) {
        this.#callsAt = { query: { ...query, cursor: page.next_cursor }, limit: asked < limit ? asked : nextLimit }
        continue
      }
      this.#callsAt = { query: { after_event: this.#state.calls.at(-1)?.event_id }, limit: nextLimit }
      return
    }
  }

  async #readMessages(): Promise<void> {
    for (;;) {
      const { query, limit } = this.#messagesAt
      const { messages, next_cursor } = await Client.api.listSessionMessages(
        { session: this.#id, ...query, limit },
        { signal: this.#signal }
      )
      if (messages.length > 0) this.#set({ messages: [...this.#state.messages, ...messages] })
      const last = this.#state.messages.at(-1)?.number
      this.#messagesAt = {
        query: next_cursor === null ? { after_number: last } : { cursor: next_cursor },
        limit: nextLimit
      }
      if (next_cursor === null) return
    }
  }

  /** Reads all that is not yet known. What one of the lists read stays where another one failed. Answers why one did. */
  async #readRest(): Promise<Client.ServerError | undefined> {
    const results = await Promise.allSettled([
      Client.api.getSession({ session: this.#id }, { signal: this.#signal }).then((session) => this.#set({ session })),
      this.#readCalls(),
      this.#readMessages()
    ])
    const failed = results.find((result) => result.status === "rejected")
    return failed && Client.toError(failed.reason)
  }

  /** Until all is known. One reading at a time, and once more if calls came meanwhile. */
  async #update(): Promise<void> {
    this.#isStale = true
    if (this.#isReading) return
    this.#isReading = true
    for (let failures = 0; this.#isStale && !this.#signal.aborted;) {
      this.#isStale = false
      const error = await this.#readRest()
      if (this.#signal.aborted) return
      this.#set({ error, isLoading: false })
      this.#onTried()
      if (error === undefined) {
        failures = 0
        continue
      }
      // What is not there at all is read again when a person wants it.
      this.#isStale = error.isTemporary && this.#state.calls.length > 0
      if (this.#isStale) await this.#rest(Retry.pauseAfter(++failures, error))
    }
    this.#isReading = false
  }

  #rest(ms: number): Promise<void> {
    this.#pause = new AbortController()
    return Retry.sleep(ms, AbortSignal.any([this.#pause.signal, this.#signal]))
  }

  /** Tries again at once. */
  resume(): void {
    this.#pause.abort()
    void this.#update()
  }

  async run(): Promise<void> {
    const tried = new Promise<void>((resolve) => (this.#onTried = resolve))
    void this.#update()
    await tried
    if (this.#signal.aborted || this.#state.calls.length === 0) return
    const onEvents = () => void this.#update()
    // What was recorded between reading and following.
    const onStart = async () => onEvents()
    const onError = (error: Client.ServerError | undefined) => {
      if (this.#state.isConnected !== (error === undefined)) this.#set({ isConnected: error === undefined })
    }
    await follow({ session: this.#id }, this.#signal, { onStart, onEvents, onError })
  }
}
