/**
 * What this process knows of the sessions that it records, bounded in bytes over all of them: the session that was used
 * least recently is forgotten first, and read again when it comes back.
 */
import { Context } from "effect"
import { SessionIndex } from "../payload/SessionIndex.ts"
import { type KnownPrefixes, noKnownPrefixes } from "../payload/scan/PieceScanner.ts"
import type { SessionState } from "../Storage.ts"

/** Bytes, about; 0 remembers nothing. 64 MiB unless somebody says otherwise. */
export const SessionCacheBytes = Context.Reference<number>("tachograph/core/SessionCacheBytes", {
  defaultValue: () => 64 * 1024 * 1024
})

export interface KnownSession {
  /** As it was when `sessionIndex` was true; undefined where there was none. */
  readonly state: Pick<SessionState, "number" | "generation"> | undefined
  readonly index: SessionIndex
  /** Others append to it too, so that it is looked at before anything is written for it. */
  readonly isContended: boolean
}

export const unknownSession = (): KnownSession => ({ state: undefined, index: new SessionIndex(), isContended: false })

export class SessionCache {
  readonly #maxBytes: number
  /** In the order of their last use. */
  readonly #sessions = new Map<string, KnownSession & { readonly cost: number }>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** About what all of it takes. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: string): KnownSession | undefined {
    return this.#sessions.get(key)
  }

  set(key: string, session: KnownSession): void {
    const { index: sessionIndex } = session
    this.delete(key)
    // One session with very many values must not push out all others, nor itself.
    const most = this.#maxBytes / 4
    if (most > 0 && sessionIndex.cost > most) {
      sessionIndex.hashDeferred()
      while (sessionIndex.cost > most && sessionIndex.forgetHalf());
    }
    const cost = sessionIndex.cost + 2 * key.length
    if (cost > this.#maxBytes) return
    this.#sessions.set(key, { ...session, cost })
    this.#bytes += cost
    for (const oldest of this.#sessions.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#sessions.get(key)?.cost ?? 0
    this.#sessions.delete(key)
  }

  knownPrefixesOf(key: string): KnownPrefixes {
    const known = this.#sessions.get(key)
    if (known?.state === undefined) return noKnownPrefixes
    const { generation, number } = known.state
    return { session: number, generation, list: known.index.knownPrefixes }
  }
}
