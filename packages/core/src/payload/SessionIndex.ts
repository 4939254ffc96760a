/**
 * What a process knows of one session: which values it has, under which numbers and in which packs. All of it is derived
 * from the session's packs and can be forgotten at any time; what is not known is merely stored again.
 */
import { hash } from "node:crypto"
import { ByteReader } from "./format/Bytes.ts"
import * as Join from "./Join.ts"
import type { KnownPrefix } from "./scan/PieceScanner.ts"
import * as Pack from "./format/Pack.ts"
import * as PackContent from "./format/PackContent.ts"
import * as PackRanges from "./format/PackRanges.ts"
import * as PiecePolicy from "./scan/PiecePolicy.ts"
import * as Template from "./format/Template.ts"

interface PackFacts {
  readonly number: number
  /** Pieces of the session before those of this pack. */
  readonly before: PackContent.Counts
  readonly chainStart: number
  /** The packs that it takes to read its pieces, beside its own chain; undefined if some of them are not known. */
  readonly dependencies: PackRanges.PackRanges | undefined
}

/** What an append adds to what is known. */
export interface Learned {
  readonly facts: PackFacts
  readonly after: PackContent.Counts
  readonly chain: Pack.Chain | undefined
  /** By `keyOf` the SHA-256 of their texts. */
  readonly numbers: ReadonlyMap<string, Join.PieceNumber>
  readonly knownPrefixes: ReadonlyArray<KnownPrefix>
  /** Answers the numbers that were put off, of values that nobody has asked for yet. */
  readonly deferredHashes:
    | { readonly bytes: number; readonly numbers: () => ReadonlyMap<string, Join.PieceNumber> }
    | undefined
}

/** Memory of one entry of each sort, in bytes; measured, and generous. */
const numberCost = 160
const packCost = 200
const rangeCost = 40
const prefixCost = 600
const contentCost = 250
const baseCost = 800

export class SessionIndex {
  /** Of the last pack that is known. */
  packs = 0
  counts: PackContent.Counts = { history: 0, parts: 0 }
  chain: Pack.Chain | undefined
  knownPrefixes: ReadonlyArray<KnownPrefix> = []
  readonly #base: SessionIndex | undefined
  readonly #numbers = new Map<string, Join.PieceNumber>()
  readonly #packs: Array<PackFacts> = []
  /** Ranges in all of them together. */
  #ranges = 0
  /** Numbers that were put off. */
  readonly #deferredHashes: Array<NonNullable<Learned["deferredHashes"]>> = []

  constructor(base?: SessionIndex) {
    this.#base = base
    if (base === undefined) return
    this.packs = base.packs
    this.counts = base.counts
    this.chain = base.chain
    this.knownPrefixes = base.knownPrefixes
  }

  /** Knows what this does, and can learn without its knowing: for packs that are not committed yet. */
  fork(): SessionIndex {
    return new SessionIndex(this)
  }

  /** Nothing is known, so that nothing needs to be looked up. */
  get isEmpty(): boolean {
    return this.#numbers.size === 0 && this.#deferredHashes.length === 0 && (this.#base?.isEmpty ?? true)
  }

  /** About what this takes of the memory, in bytes. */
  get cost(): number {
    return (
      baseCost +
      numberCost * this.#numbers.size +
      packCost * this.#packs.length +
      rangeCost * this.#ranges +
      prefixCost * this.knownPrefixes.length +
      (this.chain?.ending.reduce((sum, { length }) => sum + contentCost + length, 0) ?? 0) +
      this.#deferredHashes.reduce((sum, { bytes }) => sum + bytes, 0)
    )
  }

  /** Does what was put off, and lets go of the texts that it took. */
  hashDeferred(): void {
    for (const { numbers } of this.#deferredHashes.splice(0)) this.#addNumbers(numbers())
  }

  /** Forgets the older half of the values, and the packs that only they stood in. Answers whether there were any. */
  forgetHalf(): boolean {
    this.hashDeferred()
    const size = this.#numbers.size + this.#packs.length
    let left = Math.ceil(this.#numbers.size / 2)
    let history = Number.POSITIVE_INFINITY
    let parts = Number.POSITIVE_INFINITY
    for (const [key, piece] of this.#numbers) {
      if (left-- > 0) this.#numbers.delete(key)
      else if (piece > 0) history = Math.min(history, piece)
      else parts = Math.min(parts, -piece)
    }
    const first = this.#packs.findIndex((_, index) => {
      const next = this.#packs[index + 1]
      return next === undefined || next.before.history >= history || next.before.parts >= parts
    })
    for (const { dependencies: rests } of this.#packs.splice(0, first)) this.#ranges -= rests?.length ?? 0
    this.knownPrefixes = []
    return this.#numbers.size + this.#packs.length < size
  }

  /** The number of the value with this SHA-256. */
  numberOf(key: string): Join.PieceNumber | undefined {
    this.hashDeferred()
    return this.#numbers.get(key) ?? this.#base?.numberOf(key)
  }

  /** The packs that it takes to read a piece; undefined if they are not all known. Of values that have a number they are. */
  packsOf(piece: Join.PieceNumber): PackRanges.PackRanges | undefined {
    const facts = this.#factsOf(piece)
    return facts?.dependencies && PackRanges.add(facts.dependencies, { from: facts.chainStart, to: facts.number })
  }

  /** The last pack with fewer pieces of this sort before it. */
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
    this.#packs.push(facts)
    this.#ranges += facts.dependencies?.length ?? 0
  }

  #addNumbers(numbers: ReadonlyMap<string, Join.PieceNumber>): void {
    for (const [key, number] of numbers) this.#addNumber(key, number)
  }

  /** The first number of a value stays, unless it comes to be in the history, where it is looked for with every call. */
  #addNumber(key: string, number: Join.PieceNumber): void {
    const found = this.#numbers.get(key)
    if (found === undefined || (found < 0 && number > 0)) this.#numbers.set(key, number)
  }

  /** Takes in what an append has added, the next pack. */
  learn(learned: Learned): void {
    this.packs = learned.facts.number
    this.counts = learned.after
    this.chain = learned.chain
    this.#addPack(learned.facts)
    this.#addNumbers(learned.numbers)
    if (learned.deferredHashes !== undefined) this.#deferredHashes.push(learned.deferredHashes)
    this.knownPrefixes = [
      ...learned.knownPrefixes,
      ...this.knownPrefixes.filter(({ ending }) => !learned.knownPrefixes.some((made) => made.ending.equals(ending)))
    ].slice(0, PiecePolicy.maxKnownPrefixes)
  }

  /** The packs on which pieces in `contents` rest, as far as they are known and not among them. */
  dependenciesOf(contents: ReadonlyArray<PackContent.Contents>): PackRanges.PackRanges {
    const before = contents[0]?.before ?? this.counts
    let ranges = PackRanges.none
    for (const piece of contents.flatMap(referencesIn)) {
      if (isAmong(piece, before)) ranges = PackRanges.union(ranges, this.packsOf(piece) ?? PackRanges.none)
    }
    return ranges
  }

  /**
   * Takes in packs that others have appended: all up to those of the session as it is now, the last chain whole, and in
   * front of them as many as their pieces rest on. Values that cannot be put together from them stay unknown.
   */
  read(
    packs: ReadonlyArray<Pack.OpenPack>,
    shared: Join.SharedTexts,
    session: { readonly packs: number; readonly history: number; readonly parts: number }
  ): void {
    const pieces = Join.piecesOf(packs)
    for (const { chainStart, content, number } of packs) {
      if (number <= this.packs) continue
      const contents = PackContent.read(content)
      const { added, before } = contents
      const rests = this.#dependenciesOfPack(contents)
      this.#addPack({ number, before, chainStart, dependencies: rests })
      if (rests === undefined) continue
      for (let index = 1; index <= added.history; index++) this.#hash(before.history + index, pieces, shared)
      for (let index = 1; index <= added.parts; index++) this.#hash(-(before.parts + index), pieces, shared)
    }
    this.packs = session.packs
    this.counts = { history: session.history, parts: session.parts }
    this.chain = Pack.chainOf(packs)
  }

  #dependenciesOfPack(contents: PackContent.Contents): PackRanges.PackRanges | undefined {
    let ranges = PackRanges.none
    for (const piece of referencesIn(contents)) {
      if (!isAmong(piece, contents.before)) continue
      const packs = this.packsOf(piece)
      if (packs === undefined) return undefined
      ranges = PackRanges.union(ranges, packs)
    }
    return ranges
  }

  #hash(piece: Join.PieceNumber, pieces: Join.Pieces, shared: Join.SharedTexts): void {
    const place = pieces.get(piece)
    if (place === undefined || PackContent.isEmpty(place)) return
    const name = Template.sharedAlone(place.content, place.start, place.end)
    if (name !== undefined) return this.#addNumber(Join.keyOf(name), piece)
    try {
      const text = Join.join(place, pieces, shared)
      this.#addNumber(Join.keyOf(hash("sha256", text, "buffer")), piece)
    } catch (error) {
      // A part of it was erased, or lies further back than was read.
      if (!(error instanceof Join.PieceMissing)) throw error
    }
  }
}

const isAmong = (piece: Join.PieceNumber, { history, parts }: PackContent.Counts): boolean =>
  piece > 0 ? piece <= history : -piece <= parts

/** The pieces that the pieces of a pack name, those of its texts aside. */
const referencesIn = ({ history, parts }: PackContent.Contents): ReadonlyArray<Join.PieceNumber> => {
  const found: Array<Join.PieceNumber> = []
  const visitor: Template.TemplateVisitor = {
    part: (number) => found.push(-number),
    history: (first, count) => {
      for (let index = 0; index < count; index++) found.push(first + index)
    },
    shared: () => {}
  }
  for (const { content, start } of [...history, ...parts]) Template.read(new ByteReader(content, start), visitor)
  return found
}
