/** A list that is read page by page, and whose beginning is read again. */
import { toError, type ServerError } from "./Client.ts"

export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  readonly next: string | null
}

export interface State<A> extends Page<A> {
  readonly isLoading: boolean
  /** Why the beginning could not be read. */
  readonly error: ServerError | undefined
  /** Why the next page could not be read. It is not asked for again until a person wants it. */
  readonly moreError: ServerError | undefined
  readonly isReadingMore: boolean
}

export interface Source<A> {
  readonly read: (cursor: string | null, signal: AbortSignal) => Promise<Page<A>>
  /** What makes two rows the same one. */
  readonly idOf: (row: A) => string
  /** What the order of the list follows, where it changes. */
  readonly orderOf?: (row: A) => string
}

/**
 * Pages that are read at most to find where what is new ends, and for how long (ms): a server that takes longer is busy. After more, the
 * list begins anew, and the next time one page is read: more comes than anybody reads.
 */
const maxCatchUpPages = 5
const maxCatchUpMs = 250

export const empty: State<never> = {
  rows: [],
  next: null,
  isLoading: true,
  error: undefined,
  moreError: undefined,
  isReadingMore: false
}

export class PagedList<A> {
  readonly #source: Source<A>
  readonly #signal: AbortSignal
  readonly #show: (state: State<A>) => void
  #state: State<A>
  #isRefreshing = false
  #beganAnew = false
  /** Counts the lists that began anew: a page of the one before does not belong to it. */
  #beginnings = 0

  constructor(source: Source<A>, signal: AbortSignal, initial: State<A>, show: (state: State<A>) => void) {
    this.#source = source
    this.#signal = signal
    this.#state = initial
    this.#show = show
  }

  #set(changes: Partial<State<A>>): void {
    if (this.#signal.aborted) return
    this.#state = { ...this.#state, ...changes }
    this.#show(this.#state)
  }

  /** The row that both lists have at the same place of the order: what is behind it is the same in both. */
  #lastUnmoved(fresh: ReadonlyArray<A>): number {
    const { idOf, orderOf = () => "" } = this.#source
    const orders = new Map(fresh.map((row) => [idOf(row), orderOf(row)]))
    return this.#state.rows.findLastIndex((row) => orders.get(idOf(row)) === orderOf(row))
  }

  /** The rows of the beginning, as far as those that are known already. */
  async #beginning(): Promise<Page<A>> {
    const { rows: known } = this.#state
    const askedAt = performance.now()
    let { next, rows } = await this.#source.read(null, this.#signal)
    for (let page = 1; page < (this.#beganAnew ? 1 : maxCatchUpPages); page++) {
      // A page without rows says only that its first thousands have nothing new that matches.
      if (known.length === 0 || rows.length === 0 || next === null || this.#lastUnmoved(rows) !== -1) break
      if (performance.now() - askedAt > maxCatchUpMs) break
      const more = await this.#source.read(next, this.#signal)
      rows = this.#joined(rows, more.rows)
      next = more.next
    }
    return { rows, next }
  }

  /** Without rows that came a second time, because they moved between two pages. */
  #joined(rows: ReadonlyArray<A>, more: ReadonlyArray<A>): ReadonlyArray<A> {
    const ids = new Set(rows.map(this.#source.idOf))
    return [...rows, ...more.filter((row) => !ids.has(this.#source.idOf(row)))]
  }

  /** Leaves out a row that is known to be gone. */
  remove(id: string): void {
    this.#set({ rows: this.#state.rows.filter((row) => this.#source.idOf(row) !== id) })
  }

  /** Reads the beginning again. Rows that are no longer there were erased. */
  async refresh(): Promise<void> {
    if (this.#isRefreshing || isTooEarly(this.#state.error)) return
    this.#isRefreshing = true
    try {
      const { next, rows } = await this.#beginning()
      const { rows: known } = this.#state
      const done = { isLoading: false, error: undefined }
      const unmoved = this.#lastUnmoved(rows)
      if (next !== null && known.length > 0 && rows.length === 0) this.#set(done)
      else if (next === null || unmoved === -1) {
        this.#beginnings++
        this.#beganAnew = known.length > 0 && next !== null
        this.#set({ ...done, rows, next, moreError: undefined })
      } else {
        this.#beganAnew = false
        this.#set({ ...done, rows: this.#joined(rows, known.slice(unmoved + 1)) })
      }
    } catch (error) {
      this.#set({ isLoading: false, error: toError(error) })
    } finally {
      this.#isRefreshing = false
    }
  }

  async more(): Promise<void> {
    const { isReadingMore, moreError, next } = this.#state
    if (isReadingMore || next === null || isTooEarly(moreError)) return
    this.#set({ isReadingMore: true })
    const beginnings = this.#beginnings
    try {
      const page = await this.#source.read(next, this.#signal)
      if (beginnings !== this.#beginnings) return
      this.#set({ rows: this.#joined(this.#state.rows, page.rows), next: page.next, moreError: undefined })
    } catch (error) {
      this.#set({ moreError: toError(error) })
    } finally {
      this.#set({ isReadingMore: false })
    }
  }
}

/** A server that says when to ask again is not asked before. */
const isTooEarly = (error: ServerError | undefined): boolean =>
  error?.notBefore !== undefined && Date.now() < error.notBefore
