/**
 * The latest calls, as they are recorded. While more come than anybody reads, the page does not take each of them: it asks for the
 * latest from time to time, so that looking takes little from recording, however much comes.
 */
import { useEffect, useState } from "preact/hooks"
import * as Client from "../../server/Client.ts"
import * as Events from "../../server/Events.ts"
import { follow } from "../../server/follow.ts"
import * as Pace from "../../server/Pace.ts"
import type { ListedEvent } from "../../server/Types.ts"

/** Calls that are kept. */
const maxCalls = 200

/** Calls that are asked for at once. More of them at once are more than anybody reads. */
const latest = 50

/** The pause before the latest are asked for again while there are more (ms). */
const lookMs = 2_000

export interface Calls {
  readonly calls: ReadonlyArray<ListedEvent>
  readonly error: Client.ServerError | undefined
  /** Whether more come than are shown. */
  readonly isFast: boolean
}

class Reader {
  #calls: Calls = { calls: [], error: undefined, isFast: false }
  readonly #query: { readonly error?: true }
  readonly #signal: AbortSignal
  readonly #show: (calls: Calls) => void

  constructor(isFailed: boolean, signal: AbortSignal, show: (calls: Calls) => void) {
    this.#query = isFailed ? { error: true } : {}
    this.#signal = signal
    this.#show = show
  }

  #set(change: Partial<Calls>): void {
    this.#calls = { ...this.#calls, ...change }
    if (!this.#signal.aborted) this.#show(this.#calls)
  }

  /** Adds the newest calls, the latest first. Returns whether calls may be missing between them and those before. */
  #add(newest: ReadonlyArray<ListedEvent>): boolean {
    const { calls } = this.#calls
    const known = new Set(calls.map(({ event_id }) => event_id))
    const fresh = newest.filter(({ event_id }) => !known.has(event_id)).slice(0, latest)
    const isFast = fresh.length === latest && calls.length > 0
    // A list with an invisible gap would be wrong.
    if (fresh.length > 0) this.#set({ calls: [...fresh, ...(isFast ? [] : calls)].slice(0, maxCalls) })
    return isFast
  }

  async #look(): Promise<boolean> {
    const { rows } = await Events.readLatest(this.#query, null, latest, this.#signal)
    return this.#add(rows)
  }

  /** Takes each call, until more come at once than anybody reads. */
  async #followEach(): Promise<void> {
    const fast = new AbortController()
    await follow(this.#query, AbortSignal.any([fast.signal, this.#signal]), {
      onStart: async () => void (await this.#look()),
      onEvents: (events) => {
        if (this.#add(events.toReversed())) fast.abort()
      },
      onError: (error) => this.#set({ error })
    })
  }

  /** Looks at the latest, until none was missed between two looks. */
  async #lookNowAndThen(): Promise<void> {
    this.#set({ isFast: true })
    await Pace.askAgain(lookMs, this.#signal, async () => {
      try {
        const isFast = await this.#look()
        this.#set({ error: undefined })
        return isFast
      } catch (error) {
        if (!this.#signal.aborted) this.#set({ error: Client.toError(error) })
        return true
      }
    })
    this.#set({ isFast: false })
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      await this.#followEach()
      if (!this.#signal.aborted) await this.#lookNowAndThen()
    }
  }
}

const none: Calls = { calls: [], error: undefined, isFast: false }

/** All calls, or those that fail. */
export const useCalls = (isFailed: boolean): Calls => {
  const [calls, setCalls] = useState(none)
  useEffect(() => {
    const aborter = new AbortController()
    setCalls(none)
    void new Reader(isFailed, aborter.signal, setCalls).run()
    return () => aborter.abort()
  }, [isFailed])
  return calls
}
