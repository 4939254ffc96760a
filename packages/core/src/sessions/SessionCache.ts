/**
 * The sessions that this process has recently written to, as an LRU cache bounded in bytes over all sessions. An evicted
 * session is loaded again from its packs when it is needed.
 */
import * as Context from "effect/Context"
import { SessionIndex } from "../payload/SessionIndex.ts"
import { type KnownPrefixes, noKnownPrefixes } from "../payload/scan/PieceScanner.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionState } from "../storage/Appending.ts"
import { keyOf, projectOf } from "./SessionKey.ts"

/** Approximate size limit of the cache in bytes, 64 MiB by default. 0 disables the cache. */
export const SessionCacheBytes = Context.Reference<number>("tachograph/core/SessionCacheBytes", {
  defaultValue: () => 64 * 1024 * 1024
})

export interface KnownSession {
  /** The state that `index` describes; undefined if the session did not exist. */
  readonly state: Pick<SessionState, "number" | "generation"> | undefined
  readonly index: SessionIndex
  /** Other processes append to it too, so its state is read from the storage before each append. */
  readonly isContended: boolean
}

export const unknownSession = (): KnownSession => ({ state: undefined, index: new SessionIndex(), isContended: false })

export class SessionCache {
  readonly #maxBytes: number
  /** Least recently used first. */
  readonly #sessions = new Map<string, KnownSession & { readonly costBytes: number }>()
  /** The keys of the sessions that have a number, by `numberKeyOf`. */
  readonly #keys = new Map<string, string>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Approximate size in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: string): KnownSession | undefined {
    return this.#sessions.get(key)
  }

  set(key: string, session: KnownSession): void {
    const { index } = session
    this.delete(key)
    // A session may take a quarter of the cache, so that one with very many values does not evict all others, or itself.
    const maxSessionBytes = this.#maxBytes / 4
    if (maxSessionBytes > 0 && index.costBytes > maxSessionBytes) {
      index.hashDeferred()
      while (index.costBytes > maxSessionBytes && index.forgetHalf());
    }
    const costBytes = index.costBytes + 2 * key.length
    if (costBytes > this.#maxBytes) return
    this.#sessions.set(key, { ...session, costBytes })
    if (session.state !== undefined) this.#keys.set(numberKeyOf(projectOf(key), session.state.number), key)
    this.#bytes += costBytes
    for (const oldest of this.#sessions.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const session = this.#sessions.get(key)
    if (session === undefined) return
    this.#bytes -= session.costBytes
    this.#sessions.delete(key)
    if (session.state !== undefined) this.#keys.delete(numberKeyOf(projectOf(key), session.state.number))
  }

  /** Deletes a session by its number. */
  deleteNumber(project: ProjectId, number: number): void {
    const key = this.#keys.get(numberKeyOf(project, number))
    if (key !== undefined) this.delete(key)
  }

  knownPrefixesOf(key: string): KnownPrefixes {
    const known = this.#sessions.get(key)
    if (known?.state === undefined) return noKnownPrefixes
    const { generation, number } = known.state
    return { session: number, generation, list: known.index.knownPrefixes }
  }
}

const numberKeyOf = (project: ProjectId, number: number): string => keyOf(project, String(number))
