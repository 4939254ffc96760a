/**
 * The in-memory index of one session: the piece numbers of its values, by hash, and the packs that contain them. All of it
 * is derived from the session's packs and may be evicted at any time; a value that is not in the index is stored again.
 */
import * as Join from "./Join.ts"
import type { KnownPrefix } from "./scan/PieceScanner.ts"
import type { Chain } from "./format/Chain.ts"
import * as Pack from "./format/Pack.ts"
import * as PackContent from "./format/PackContent.ts"
import * as PackRanges from "./format/PackRanges.ts"
import * as PieceHashes from "./PieceHashes.ts"
import * as PiecePolicy from "./scan/PiecePolicy.ts"
import * as References from "./References.ts"

interface PackFacts {
  readonly number: number
  /** The session's piece counts before this pack. */
  readonly before: PackContent.Counts
  readonly chainStart: number
  /** Size of its content in bytes, uncompressed. */
  readonly contentBytes: number
  /** The packs needed to read its pieces, besides its own chain. Undefined if some of them are not in the index. */
  readonly dependencies: PackRanges.PackRanges | undefined
}

/** What an append adds to the index. */
export interface Learned {
  readonly facts: PackFacts
  readonly after: PackContent.Counts
  readonly chain: Chain | undefined
  /** Piece numbers by `keyOf` of the SHA-256 of their texts. */
  readonly numbers: ReadonlyMap<string, Join.PieceNumber>
  readonly knownPrefixes: ReadonlyArray<KnownPrefix>
  /** Computes the numbers of values that were not hashed yet. `bytes` is the size of the text that it retains. */
  readonly deferredHashes:
    | { readonly bytes: number; readonly numbers: () => ReadonlyMap<string, Join.PieceNumber> }
    | undefined
}

/** Memory taken by one entry of each kind, in bytes: measured, and rounded up. */
const numberBytes = 160
const packBytes = 200
const rangeBytes = 40
const prefixBytes = 600
const contentBytes = 250
const baseBytes = 800
const sizeBytes = 40

/** A decompressed pack, and where its templates are. */
export interface LocatedPack extends Pack.OpenPack {
  readonly contents: PackContent.Contents
}

export class SessionIndex {
  /** The number of the last indexed pack. */
  packs = 0
  counts: PackContent.Counts = { history: 0, parts: 0 }
  chain: Chain | undefined
  knownPrefixes: ReadonlyArray<KnownPrefix> = []
  readonly #base: SessionIndex | undefined
  readonly #numbers = new Map<string, Join.PieceNumber>()
  readonly #packs: Array<PackFacts> = []
  /** Total number of dependency ranges in `#packs`. */
  #ranges = 0
  /** For each pack in the index, also for those that were forgotten: its number, and the bytes of all contents up to it. */
  readonly #sizes: Array<{ readonly number: number; readonly total: number }> = []
  readonly #deferredHashes: Array<NonNullable<Learned["deferredHashes"]>> = []

  constructor(base?: SessionIndex) {
    this.#base = base
    if (base === undefined) return
    this.packs = base.packs
    this.counts = base.counts
    this.chain = base.chain
    this.knownPrefixes = base.knownPrefixes
  }

  /** A copy-on-write index on top of this one, for packs that are not committed yet. */
  fork(): SessionIndex {
    return new SessionIndex(this)
  }

  /** True if there are no values in the index, so that no look-up can succeed. */
  get isEmpty(): boolean {
    return this.#numbers.size === 0 && this.#deferredHashes.length === 0 && (this.#base?.isEmpty ?? true)
  }

  /** Approximate memory use in bytes, without the index that this one is forked from. */
  get costBytes(): number {
    return (
      baseBytes +
      numberBytes * this.#numbers.size +
      packBytes * this.#packs.length +
      rangeBytes * this.#ranges +
      sizeBytes * this.#sizes.length +
      prefixBytes * this.knownPrefixes.length +
      (this.chain?.ending.reduce((sum, { length }) => sum + contentBytes + length, 0) ?? 0) +
      this.#deferredHashes.reduce((sum, { bytes }) => sum + bytes, 0)
    )
  }

  /** Computes the deferred hashes, and releases the texts that they needed. */
  hashDeferred(): void {
    for (const { numbers } of this.#deferredHashes.splice(0)) this.#addNumbers(numbers())
  }

  /** Removes the older half of the values, and the packs that no remaining value is in. Returns false if nothing was removed. */
  forgetHalf(): boolean {
    this.hashDeferred()
    const size = this.#numbers.size + this.#packs.length
    let removals = Math.ceil(this.#numbers.size / 2)
    /** The lowest numbers that remain. */
    let history = Number.POSITIVE_INFINITY
    let parts = Number.POSITIVE_INFINITY
    for (const [key, piece] of this.#numbers) {
      if (removals-- > 0) this.#numbers.delete(key)
      else if (piece > 0) history = Math.min(history, piece)
      else parts = Math.min(parts, -piece)
    }
    const first = this.#packs.findIndex((_, index) => {
      const next = this.#packs[index + 1]
      return next === undefined || next.before.history >= history || next.before.parts >= parts
    })
    for (const { dependencies } of this.#packs.splice(0, first)) this.#ranges -= dependencies?.length ?? 0
    this.knownPrefixes = []
    return this.#numbers.size + this.#packs.length < size
  }

  /** The number of a value, by `keyOf` of its SHA-256. */
  numberOf(key: string): Join.PieceNumber | undefined {
    this.hashDeferred()
    return this.#numbers.get(key) ?? this.#base?.numberOf(key)
  }

  /** The packs needed to read a piece. Undefined if some are not in the index; never for a result of `numberOf`. */
  packsOf(piece: Join.PieceNumber): PackRanges.PackRanges | undefined {
    const facts = this.#factsOf(piece)
    return facts?.dependencies && PackRanges.add(facts.dependencies, { from: facts.chainStart, to: facts.number })
  }

  /** Bytes of the contents of all packs in the index, uncompressed. */
  get contentBytes(): number {
    return this.#sizes.at(-1)?.total ?? this.#base?.contentBytes ?? 0
  }

  /** Bytes of the contents of these packs, uncompressed. Counts those that are not in the index as empty. */
  contentBytesOf(ranges: PackRanges.PackRanges): number {
    let bytes = 0
    for (const { from, to } of ranges) bytes += this.#totalUpTo(to) - this.#totalUpTo(from - 1)
    return bytes
  }

  #totalUpTo(number: number): number {
    const sizes = this.#sizes
    if (sizes.length === 0 || sizes[0]!.number > number)
      return this.#base === undefined ? 0 : this.#base.#totalUpTo(number)
    let low = 0
    let high = sizes.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (sizes[middle]!.number <= number) low = middle
      else high = middle - 1
    }
    return sizes[low]!.total
  }

  /** The pack that contains a piece: the last one with fewer pieces of its kind before it. */
  #factsOf(piece: Join.PieceNumber): PackFacts | undefined {
    const first = this.#packs[0]
    const isOlder = first === undefined || (piece > 0 ? first.before.history >= piece : first.before.parts >= -piece)
    if (isOlder) return this.#base === undefined ? undefined : this.#base.#factsOf(piece)
    let low = 0
    let high = this.#packs.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      const { before } = this.#packs[middle]!
      if (piece > 0 ? before.history < piece : before.parts < -piece) low = middle
      else high = middle - 1
    }
    return this.#packs[low]
  }

  #addPack(facts: PackFacts): void {
    this.#sizes.push({ number: facts.number, total: this.contentBytes + facts.contentBytes })
    this.#packs.push(facts)
    this.#ranges += facts.dependencies?.length ?? 0
  }

  #addNumbers(numbers: ReadonlyMap<string, Join.PieceNumber>): void {
    for (const [key, number] of numbers) this.#addNumber(key, number)
  }

  /**
   * Keeps the last number of a value, because the packs of an earlier one may be too large to be needed. A part does not replace
   * a piece of the history, which every later call looks up.
   */
  #addNumber(key: string, number: Join.PieceNumber): void {
    if (number > 0 || !((this.#numbers.get(key) ?? number) > 0)) this.#numbers.set(key, number)
  }

  /** Adds the next pack. */
  learn(learned: Learned): void {
    this.packs = learned.facts.number
    this.counts = learned.after
    this.chain = learned.chain
    this.#addPack(learned.facts)
    this.#addNumbers(learned.numbers)
    if (learned.deferredHashes !== undefined) this.#deferredHashes.push(learned.deferredHashes)
    this.knownPrefixes = [
      ...learned.knownPrefixes,
      ...this.knownPrefixes.filter(({ ending }) => !learned.knownPrefixes.some((added) => added.ending.equals(ending)))
    ].slice(0, PiecePolicy.maxKnownPrefixes)
  }

  /** The packs that pieces in `contents` depend on, without those of `contents` itself and those not in the index. */
  dependenciesOf(contents: ReadonlyArray<PackContent.Contents>): PackRanges.PackRanges {
    const before = contents[0]?.before ?? this.counts
    return contents.reduce(
      (ranges, each) => PackRanges.union(ranges, this.#neededBy(each, before).ranges),
      PackRanges.none
    )
  }

  /** All steps of `reading`. */
  read(packs: ReadonlyArray<Pack.OpenPack>, shared: Join.SharedTexts, session: PackContent.Counts & PackCount): void {
    const located = packs.map((pack) => ({ ...pack, contents: PackContent.read(pack.content) }))
    for (const _ of this.reading(located, shared, session));
  }

  /**
   * Adds packs that other processes appended. `packs` are the new packs with the whole of the last chain, preceded by the
   * packs that their pieces depend on; `session` is the current state. Values that cannot be joined from them are left out. If
   * the last pack is missing, because it is damaged or too large, the next one starts a chain.
   *
   * Yields after each pack and each value, so that the event loop can turn. The index changes after the last of these steps.
   */
  *reading(
    packs: ReadonlyArray<LocatedPack>,
    shared: Join.SharedTexts,
    session: PackContent.Counts & PackCount
  ): Generator<void, void> {
    const next = this.fork()
    const pieces = new Map<Join.PieceNumber, PackContent.TemplateSpan>()
    const added: Array<Join.PieceNumber> = []
    for (const { chainStart, content, contents, number } of packs) {
      yield
      const own = Join.piecesOf([contents])
      for (const [piece, span] of own) pieces.set(piece, span)
      if (number <= this.packs) continue
      const { before } = contents
      const { isComplete, ranges } = next.#neededBy(contents, before)
      const dependencies = isComplete ? ranges : undefined
      next.#addPack({ number, before, chainStart, contentBytes: content.length, dependencies })
      if (isComplete) for (const piece of own.keys()) added.push(piece)
    }
    const hashes = yield* PieceHashes.of(added, pieces, shared)
    for (const facts of next.#packs) this.#addPack(facts)
    for (const { key, piece } of hashes) this.#addNumber(key, piece)
    this.packs = session.packs
    this.counts = countsAfter(
      session,
      packs.map(({ contents }) => contents)
    )
    this.chain = packs.at(-1)?.number === session.packs ? Pack.chainOf(packs) : undefined
  }

  /** The packs needed to read the pieces up to `before` that a pack's new pieces reference. */
  #neededBy(contents: PackContent.Contents, before: PackContent.Counts): Needed {
    const references = References.of(contents)
    let ranges = PackRanges.none
    let isComplete = true
    for (const kind of ["history", "parts"] as const) {
      const sign = kind === "history" ? 1 : -1
      for (const { from, to } of references[kind]) {
        const last = Math.min(to, before[kind])
        // Pack by pack, because a run has very many pieces.
        for (let number = from; number <= last; number = this.#lastWith(kind, number) + 1) {
          const packs = this.packsOf(sign * number)
          if (packs === undefined) isComplete = false
          else ranges = PackRanges.union(ranges, packs)
        }
      }
    }
    return { ranges, isComplete }
  }

  /** The last piece of the pack that contains this one. */
  #lastWith(kind: keyof PackContent.Counts, number: number): number {
    let low = 0
    let high = this.#packs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#packs[middle]!.before[kind] < number) low = middle + 1
      else high = middle
    }
    const last = this.#packs[low]?.before[kind] ?? Number.POSITIVE_INFINITY
    return low > 0 || this.#base === undefined ? last : Math.min(last, this.#base.#lastWith(kind, number))
  }
}

interface PackCount {
  readonly packs: number
}

interface Needed {
  readonly ranges: PackRanges.PackRanges
  /** False if some of them are not in the index. */
  readonly isComplete: boolean
}

/** More pieces than any session has. Numbers far above it would not be exact. */
const maxPieces = 2 ** 40

/** How many pieces the session has; other than its counters say if these are damaged, as no two pieces may have one number. */
const countsAfter = (
  { history, parts }: PackContent.Counts,
  packs: ReadonlyArray<PackContent.Contents>
): PackContent.Counts => {
  const counts = { history: Math.min(history, maxPieces), parts: Math.min(parts, maxPieces) }
  for (const { added, before } of packs) {
    counts.history = Math.max(counts.history, before.history + added.history)
    counts.parts = Math.max(counts.parts, before.parts + added.parts)
  }
  return counts
}
