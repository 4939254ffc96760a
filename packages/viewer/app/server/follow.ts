/**
 * Follows calls as they are recorded: by a stream, or by answers that wait where something between the server and the page holds
 * streams back.
 */
import * as Client from "./Client.ts"
import * as Lines from "./Lines.ts"
import * as Retry from "./Retry.ts"
import type { EventSummary } from "./Types.ts"

type Query = NonNullable<Parameters<typeof Client.api.streamEvents>[0]>

type Followed = EventSummary & { readonly cursor: string }

export interface Following {
  /** Called once the position is known from which on every new call is reported. */
  readonly onStart?: () => Promise<void>
  readonly onEvents: (events: ReadonlyArray<EventSummary>) => void
  /** Undefined when the server answers again. */
  readonly onError?: (error: Client.ServerError | undefined) => void
}

/** A server sends a first, empty line at once. If none came by then (ms), something collects the answer. */
const firstLineMs = 5_000

/** How long the server may wait for the next call (s). Longer, and proxies close the connection. */
const waitSeconds = 20

/** What comes within this time (ms) is reported together: no reader is faster, and a page that is drawn for each call has no time left. */
const gatherMs = 250

/** Browsers open few connections to a server: pages that are not looked at hold none. */
const shown = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (!document.hidden || signal.aborted) return resolve()
    document.addEventListener("visibilitychange", () => resolve(), { once: true, signal })
    signal.addEventListener("abort", () => resolve())
  })

/** Calls of a stream that are not yet reported. */
const gathering = (report: Following["onEvents"]) => {
  let events: Array<EventSummary> = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const reportAll = () => {
    clearTimeout(timer)
    timer = undefined
    const gathered = events
    events = []
    if (gathered.length > 0) report(gathered)
  }
  return {
    add: (event: EventSummary) => {
      events.push(event)
      timer ??= setTimeout(reportAll, gatherMs)
    },
    report: reportAll
  }
}

class Follower {
  readonly #query: Query
  readonly #signal: AbortSignal
  readonly #following: Following
  #cursor: string | undefined
  #canStream = true
  /** Answers in a row that were errors. */
  #failures = 0

  constructor(query: Query, signal: AbortSignal, following: Following) {
    this.#query = query
    this.#signal = signal
    this.#following = following
  }

  #answered(): void {
    this.#failures = 0
    this.#following.onError?.(undefined)
  }

  /** Takes a stream until it ends. What was given is in the cursor, so that the next one goes on there. */
  async #stream(): Promise<void> {
    const aborter = new AbortController()
    const timer = setTimeout(() => {
      this.#canStream = false
      aborter.abort()
    }, firstLineMs)
    const hide = () => aborter.abort()
    const gathered = gathering(this.#following.onEvents)
    let hasAnswered = false
    document.addEventListener("visibilitychange", hide)
    try {
      const signal = AbortSignal.any([aborter.signal, this.#signal])
      const query = { ...this.#query, cursor: this.#cursor }
      for await (const line of Lines.read<Followed>(Client.api.streamEvents.response(query, { signal }), signal)) {
        clearTimeout(timer)
        hasAnswered = true
        this.#answered()
        if (line === Lines.alive) continue
        this.#cursor = line.cursor
        gathered.add(line)
      }
      if (!hasAnswered) throw new Client.ServerError(0, "offline")
    } catch (error) {
      // A mount that cannot stream says so.
      if (error instanceof Client.ServerError && error.status === 413) this.#canStream = false
      else if (!aborter.signal.aborted) throw error
    } finally {
      clearTimeout(timer)
      gathered.report()
      document.removeEventListener("visibilitychange", hide)
    }
  }

  async #ask(wait: number): Promise<void> {
    const query = { ...this.#query, cursor: this.#cursor, wait }
    const { events, next_cursor } = await Client.api.streamEvents(query, { signal: this.#signal })
    this.#cursor = next_cursor
    this.#answered()
    if (events.length > 0) this.#following.onEvents(events)
  }

  async run(): Promise<void> {
    let isStarted = false
    while (!this.#signal.aborted) {
      await shown(this.#signal)
      try {
        if (this.#cursor === undefined) await this.#ask(0)
        if (!isStarted) await this.#following.onStart?.()
        isStarted = true
        await (this.#canStream ? this.#stream() : this.#ask(waitSeconds))
      } catch (error) {
        if (this.#signal.aborted) return
        const known = Client.toError(error)
        this.#following.onError?.(known)
        await Retry.sleep(Retry.pauseAfter(++this.#failures, known), this.#signal)
      }
    }
  }
}

/** Until `signal` is aborted. `query` holds filters of events. */
export const follow = (query: Query, signal: AbortSignal, following: Following): Promise<void> =>
  new Follower(query, signal, following).run()
