/**
 * Reads the events of one session from chains that are kept open, so that each is opened once and not once for each event
 * that needs it. What the cache has may be older than what is stored: damage that is found here must be looked for again without it.
 */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Pack from "../payload/format/Pack.ts"
import type { PackRange, PackRanges } from "../payload/format/PackRanges.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import * as Join from "../payload/Join.ts"
import type * as EventReader from "../read/EventReader.ts"
import type { Storage } from "../Storage.ts"
import { LruCache } from "../read/LruCache.ts"
import * as Sorted from "../Sorted.ts"
import * as OpenChain from "../read/OpenChain.ts"

type Service = Storage["Service"]

/** Bytes of open chains and of texts of shared pieces, by default. */
const defaultChainBytes = 64 * 1024 * 1024
const defaultSharedBytes = 32 * 1024 * 1024

interface CachedChain {
  readonly stored: ReadonlyArray<Pack.StoredPack>
  readonly open: OpenChain.OpenChain
}

const costOf = ({ open, stored }: CachedChain): number =>
  stored.reduce((sum, { bytes }) => sum + bytes.length, OpenChain.bytesOf(open))

export class CachedSource implements EventReader.Source {
  readonly #storage: Service
  readonly #chains: LruCache<number, CachedChain>
  /** By `keyOf` of their names. */
  readonly #shared: LruCache<string, Buffer>
  #project: ProjectId | undefined
  #session: number | undefined
  /** The numbers of the first and the last pack of each chain that was added, in ascending order. */
  #extents: Array<PackRange> = []

  constructor(storage: Service, { chainBytes = defaultChainBytes, sharedBytes = defaultSharedBytes } = {}) {
    this.#storage = storage
    this.#chains = new LruCache(chainBytes)
    this.#shared = new LruCache(sharedBytes)
  }

  /** Forgets the chains of the previous session. */
  startSession(project: ProjectId, session: number): void {
    if (project !== this.#project) this.#shared.clear()
    this.#project = project
    this.#session = session
    this.#extents = []
    this.#chains.clear()
  }

  /** The next chain of the session, whole. */
  add(stored: ReadonlyArray<Pack.StoredPack>, open: OpenChain.OpenChain): void {
    const from = stored[0]!.number
    const to = stored.at(-1)!.number
    // A chain that was longer when it was added again.
    if (this.#extents.at(-1)?.from === from) this.#extents.pop()
    this.#extents.push({ from, to })
    this.#keep({ stored, open })
  }

  #keep(chain: CachedChain): void {
    this.#chains.set(chain.stored[0]!.number, chain, costOf(chain))
  }

  readonly getEvent: EventReader.Source["getEvent"] = (project, id) => this.#storage.getEvent(project, id)

  readonly readPacks: EventReader.Source["readPacks"] = (project, session, ranges) => {
    const isAdded = project === this.#project && session === this.#session
    if (!isAdded || ranges.at(-1)!.to > (this.#extents.at(-1)?.to ?? 0)) {
      return this.#storage.readPacks(project, session, ranges)
    }
    const packs: Array<Pack.StoredPack> = []
    const missing: Array<PackRange> = []
    for (const extent of this.#extentsIn(ranges)) {
      const chain = this.#chains.get(extent.from)
      if (chain === undefined) missing.push(extent)
      else packs.push(...chain.stored)
    }
    const inRanges = (all: ReadonlyArray<Pack.StoredPack>) =>
      all.filter(({ number }) => ranges.some(({ from, to }) => from <= number && number <= to))
    if (missing.length === 0) return Effect.succeed(inRanges(packs))
    return Effect.map(this.#storage.readPacks(project, session, missing), (read) => {
      for (const { from, to } of missing) this.#open(read.filter(({ number }) => from <= number && number <= to))
      return inRanges([...packs, ...read].sort((a, b) => a.number - b.number))
    })
  }

  /** Keeps the packs of an extent, if they are still a chain. */
  #open(stored: ReadonlyArray<Pack.StoredPack>): void {
    const chains = Pack.chainsOf(stored)
    if (chains.length === 1 && chains[0]!.length === stored.length) {
      this.#keep({ stored, open: OpenChain.open(chains[0]!) })
    }
  }

  #extentsIn(ranges: PackRanges): ReadonlyArray<PackRange> {
    const found: Array<PackRange> = []
    for (const { from, to } of ranges) {
      for (let index = Sorted.firstNot(this.#extents, ({ to }) => to < from); index < this.#extents.length; index++) {
        const extent = this.#extents[index]!
        if (extent.from > to) break
        if (found.at(-1) !== extent) found.push(extent)
      }
    }
    return found
  }

  /** Events need a chain up to their own pack, so what is asked for is the beginning of a chain that was added. */
  readonly openChain = (chain: Pack.StoredChain): OpenChain.OpenChain => {
    const cached = this.#chains.get(chain[0]!.number)
    const isBeginning =
      cached !== undefined && chain.every(({ number }, index) => number === cached.stored[index]?.number)
    if (!isBeginning) return OpenChain.open(chain)
    return chain.length === cached.stored.length ? cached.open : OpenChain.beginningOf(cached.open, chain.length)
  }

  /** It is kept for other events. */
  readonly closeChain = (): void => {}

  readonly sharedTexts: EventReader.Source["sharedTexts"] = (project, names, { maxPieceBytes }) => {
    const texts = new Map<string, Buffer>()
    const load = Effect.asVoid(Effect.suspend(() => this.#readShared(project, names, maxPieceBytes, texts)))
    return { get: (key) => texts.get(key), load: () => load, close: () => {} }
  }

  /** Adds the texts of these names. */
  #readShared(
    project: ProjectId,
    names: ReadonlyArray<Uint8Array>,
    maxPieceBytes: number,
    texts: Map<string, Buffer>
  ): Effect.Effect<unknown, StorageUnavailable> {
    const missing: Array<Uint8Array> = []
    for (const name of names) {
      const key = Join.keyOf(name)
      const text = project === this.#project ? this.#shared.get(key) : undefined
      if (text === undefined) missing.push(name)
      else if (text.length > maxPieceBytes) throw new Damage(`A shared piece has more than ${maxPieceBytes} bytes`)
      else texts.set(key, text)
    }
    if (missing.length === 0) return Effect.void
    return Effect.map(this.#storage.readShared(project, missing), (pieces) => {
      for (const { bytes, sha256 } of pieces) {
        const text = SharedPiece.textOf(bytes, maxPieceBytes)
        texts.set(Join.keyOf(sha256), text)
        if (project === this.#project) this.#shared.set(Join.keyOf(sha256), text, text.length)
      }
    })
  }
}
