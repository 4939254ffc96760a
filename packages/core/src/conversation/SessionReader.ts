/** Reads sessions as messages and calls. Outlines of the sessions that were read last are kept. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { SessionNotFound, StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import { LruCache } from "../read/LruCache.ts"
import * as Configurations from "./Configurations.ts"
import { type Listed, numbersOf } from "./NumberedPage.ts"
import * as PieceTexts from "./PieceTexts.ts"
import { maxBetween } from "./Retries.ts"
import { type CallQuery, callsOf, firstAfter, type Source } from "./SessionCalls.ts"
import { type MessageQuery, messagesOf } from "./SessionMessages.ts"
import { maxPack, SessionOutline } from "./SessionOutline.ts"

/** Memory of the outlines that are kept, in bytes. */
const cachedOutlineBytes = 32 * 1024 * 1024

/** How often a session is read again that is erased from meanwhile. */
const maxAttempts = 10

interface Entry {
  readonly project: ProjectId
  readonly session: number
  readonly read: SessionOutline
  /** One request at a time reads on. */
  readonly turns: Semaphore.Semaphore
}

export class SessionReader {
  readonly #source: Source
  readonly #caches = PieceTexts.makeCaches()
  /** By project and session. */
  readonly #outlines = new LruCache<string, Entry>(cachedOutlineBytes)

  constructor(source: Source) {
    this.#source = source
  }

  /**
   * Messages, in the order of their numbers. A page may have fewer than `limit` although there are more, if their texts are long.
   */
  readonly listMessages = (project: ProjectId, session: SessionId, query: MessageQuery) => {
    const { above = 0, after, limit, order } = query
    const first = order === "asc" ? Math.max(above, after ?? 0) + 1 : above + 1
    const isEnough = ({ outline }: SessionOutline) => order === "asc" && outline.messages.length >= first + limit
    return this.#reading(project, session, isEnough, (read) => {
      const { length } = read.outline.messages
      const end = order === "asc" ? length + 1 : Math.min(length + 1, after ?? length + 1)
      return messagesOf(read, numbersOf(first, end, query), end - first, query)
    })
  }

  /** Calls, in the order in which they were recorded. They have the numbers of their packs. */
  readonly listCalls = (project: ProjectId, session: SessionId, query: CallQuery) => {
    const { after = 0, afterEvent, limit, order } = query
    const isEnough = ({ calls }: SessionOutline) =>
      order === "asc" && afterEvent === undefined && firstAfter(calls, after) + limit + maxBetween < calls.length
    return this.#reading(project, session, isEnough, (read) => callsOf(this.#source, project, session, read, query))
  }

  /** Drops what is kept of all sessions, because it may hold texts that were erased. */
  forget(): void {
    this.#outlines.clear()
    PieceTexts.clear(this.#caches)
  }

  /** Has the next read find anew what of the session is damaged. Texts that were read before the damage, and verified, stay. */
  forgetSession(project: ProjectId, session: number): void {
    this.#outlines.deleteWhere((entry) => entry.project === project && entry.session === session)
  }

  /** What an agent version ran with. */
  readonly listConfigurations = (project: ProjectId, query: Configurations.ConfigurationQuery) =>
    Configurations.list(this.#source.storage, this.#caches, this.#source.onDamage, project, query)

  /** Uses what is known of a session, when `isEnough` of it is, or all of it. */
  readonly #reading = Effect.fnUntraced(function* <Page, E>(
    this: SessionReader,
    project: ProjectId,
    session: SessionId,
    isEnough: (read: SessionOutline) => boolean,
    use: (read: SessionOutline) => Effect.Effect<Listed<Page>, E>
  ): Effect.fn.Return<Page, E | SessionNotFound | StorageUnavailable> {
    const key = `${project}\u0000${session}`
    for (let attemptsLeft = maxAttempts; attemptsLeft > 0; attemptsLeft--) {
      const entry = yield* this.#entryOf(project, session, key)
      if (entry === undefined) continue
      const { read, turns } = entry
      if (yield* turns.withPermits(1)(read.extend(() => isEnough(read)))) {
        if (this.#outlines.get(key) === entry) this.#outlines.set(key, entry, read.costBytes)
        const { damaged, page } = yield* use(read)
        read.pieces.release()
        // What was erased meanwhile is no damage.
        if (damaged.length === 0 || (yield* read.isCurrent)) {
          for (const { damage, id } of damaged) yield* this.#source.onDamage(id, damage)
          return page
        }
      }
      if (this.#outlines.get(key) === entry) this.#outlines.delete(key)
    }
    return yield* new StorageUnavailable({ cause: new Error("The session is erased from too often to be read") })
  })

  /** Undefined if the session has been erased in between. */
  readonly #entryOf = Effect.fnUntraced(function* (
    this: SessionReader,
    project: ProjectId,
    session: SessionId,
    key: string
  ): Effect.fn.Return<Entry | undefined, SessionNotFound | StorageUnavailable> {
    const found = yield* this.#source.storage.getSession(project, session)
    if (found === undefined) return yield* new SessionNotFound()
    const { number } = found
    const known = this.#outlines.get(key)
    if (known?.session === number) return known
    const { state } = yield* this.#source.storage.listPacks(project, number, maxPack, 1)
    if (state === undefined) return undefined
    const read = new SessionOutline(this.#source.storage, this.#caches, { project, session, number }, state)
    const entry = { project, session: number, read, turns: Semaphore.makeUnsafe(1) }
    this.#outlines.set(key, entry, 0)
    return entry
  })
}
