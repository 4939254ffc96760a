/**
 * Finds what no remaining event of a session reaches, and blanks it. Packs are taken from the newest to the oldest, a few
 * at a time: a piece is only ever named by its own pack or a newer one, so that when a pack's turn comes, all that names it
 * has been seen. Between two steps others may append, as long as what they append names nothing that was blanked; what they
 * have appended is handed to the next step, to be looked at and left as it is.
 */
import { ByteReader } from "./format/Bytes.ts"
import { keyOf, type PieceNumber } from "./Join.ts"
import * as Pack from "./format/Pack.ts"
import * as PackContent from "./format/PackContent.ts"
import * as PackRanges from "./format/PackRanges.ts"
import * as Template from "./format/Template.ts"

/** A pack, and whether its event remains. */
export interface SweepPack extends Pack.StoredPack {
  readonly isKept: boolean
}

export interface Change {
  readonly number: number
  /** None: nothing in it is reached. */
  readonly bytes: Buffer | undefined
  readonly formerNewBytes: number
  readonly newBytes: number
}

export interface Step {
  readonly changes: ReadonlyArray<Change>
  /** Pieces that were blanked or went with their packs. */
  readonly pieces: number
  /** Bytes that the packs take less than before. */
  readonly bytes: number
}

interface Opened {
  readonly number: number
  readonly pack: SweepPack
  readonly chainStart: number
  readonly contents: PackContent.Contents
}

/** No pack has a higher number. */
const maxPack = 2 ** 31 - 1

const empty = Buffer.of(0)

export class Sweep {
  /** Pieces that are reached, in packs whose turn has not come. */
  readonly #reached: Set<PieceNumber>
  readonly #owned: Map<string, Buffer>
  /** The lowest pack whose turn has been. */
  #low = Number.POSITIVE_INFINITY
  /** The highest pack that was looked at, and where its chain starts. */
  #high = 0
  #highChain = 1

  /** Goes on from where another one stands, which stays as it is. */
  constructor(from?: Sweep) {
    this.#reached = new Set(from === undefined ? [] : from.#reached)
    this.#owned = new Map(from === undefined ? [] : from.#owned)
    if (from === undefined) return
    this.#low = from.#low
    this.#high = from.#high
    this.#highChain = from.#highChain
  }

  /** What to read next: packs downwards from `to`, and all above `above`, among which may be some that were looked at. */
  get next(): { readonly to: number; readonly above: number } {
    const isFirst = this.#low === Number.POSITIVE_INFINITY
    return isFirst ? { to: maxPack, above: maxPack - 1 } : { to: this.#low - 1, above: this.#highChain - 1 }
  }

  /** The names of the shared pieces that are reached, when all packs have had their turn. */
  get owned(): ReadonlyArray<Buffer> {
    return Array.from(this.#owned.values())
  }

  /** Packs that were appended meanwhile. */
  observe(packs: ReadonlyArray<SweepPack>): void {
    const opened = open(packs).filter(({ number }) => number > this.#high)
    this.#mark(opened)
    this.#markObserved(opened)
  }

  #markObserved(opened: ReadonlyArray<Opened>): void {
    const last = opened.at(-1)
    if (last === undefined || last.number <= this.#high) return
    this.#high = last.number
    this.#highChain = last.chainStart
  }

  /**
   * Packs downwards from where the last step ended. A chain at the lower end that is not whole is left for the next step.
   * The first step's packs are the session's last.
   */
  step(packs: ReadonlyArray<SweepPack>): Step {
    const opened = open(packs)
    this.#markObserved(opened)
    this.#low = opened[0]?.number ?? 1
    const reached = this.#mark(opened)
    const changes: Array<Change> = []
    let pieces = 0
    let bytes = 0
    for (const chain of chainsOf(opened)) {
      const rewritten = chain.map((each) => blank(each, reached))
      pieces += rewritten.reduce((sum, { blanked }) => sum + blanked, 0)
      const made = rewrite(
        chain,
        rewritten.map(({ content }) => content)
      )
      changes.push(...made)
      for (const change of made) {
        bytes += chain.find(({ number }) => number === change.number)!.pack.bytes.length - (change.bytes?.length ?? 0)
      }
    }
    return { changes, pieces, bytes }
  }

  /** Follows what the remaining events among the packs reach. Answers the pieces reached that stand in these packs. */
  #mark(packs: ReadonlyArray<Opened>): ReadonlySet<PieceNumber> {
    const places = new Map<PieceNumber, PackContent.TemplateSpan>()
    for (const { contents } of packs) {
      const { before, history, parts } = contents
      for (const [index, place] of history.entries()) places.set(before.history + index + 1, place)
      for (const [index, place] of parts.entries()) places.set(-(before.parts + index + 1), place)
    }

    const found = new Set<PieceNumber>()
    const open: Array<PackContent.TemplateSpan> = []
    const visit = (piece: PieceNumber) => {
      const place = places.get(piece)
      if (place === undefined) {
        this.#reached.add(piece)
      } else if (!found.has(piece)) {
        found.add(piece)
        open.push(place)
      }
    }
    const visitor: Template.TemplateVisitor = {
      part: (number) => visit(-number),
      history: (first, count) => {
        for (let index = 0; index < count; index++) visit(first + index)
      },
      shared: (sha256) => void this.#owned.set(keyOf(sha256), Buffer.from(sha256))
    }
    for (const { contents, pack } of packs) if (pack.isKept) open.push(contents.inputs, contents.output)
    for (const piece of places.keys()) if (this.#reached.delete(piece)) visit(piece)
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      Template.read(new ByteReader(place.content, place.start), visitor)
    }
    return found
  }
}

const open = (packs: ReadonlyArray<SweepPack>): ReadonlyArray<Opened> => {
  const byNumber = new Map(packs.map((pack) => [pack.number, pack]))
  return Pack.open(packs).map(({ chainStart, content, number }) => ({
    number,
    pack: byNumber.get(number)!,
    chainStart,
    contents: PackContent.read(content)
  }))
}

const chainsOf = (packs: ReadonlyArray<Opened>): ReadonlyArray<ReadonlyArray<Opened>> =>
  Array.from(Map.groupBy(packs, ({ chainStart }) => chainStart).values())

/** The content with nothing but what is reached; none, if that is nothing. */
const blank = (
  { contents, pack: { isKept } }: Opened,
  reached: ReadonlySet<PieceNumber>
): { readonly content: Buffer | undefined; readonly blanked: number } => {
  const { added, before, history, inputs, output, parts } = contents
  let blanked = 0
  const keep = ({ content, end, start }: PackContent.TemplateSpan): Buffer => content.subarray(start, end)
  const keepReached = (sign: 1 | -1, last: number) => (place: PackContent.TemplateSpan, index: number) => {
    if (reached.has(sign * (last + index + 1))) return keep(place)
    if (!PackContent.isEmpty(place)) blanked++
    return empty
  }
  const pieces = [...history.map(keepReached(1, before.history)), ...parts.map(keepReached(-1, before.parts))]
  if (!isKept && pieces.every((piece) => piece === empty)) return { content: undefined, blanked }
  const texts = [inputs, output].map((place) => (isKept ? keep(place) : empty))
  return { content: PackContent.write({ before, added }, [...texts, ...pieces]), blanked }
}

/** The packs of a chain with other contents, if any of them has changed: what follows a change is compressed anew, too. */
const rewrite = (chain: ReadonlyArray<Opened>, contents: ReadonlyArray<Buffer | undefined>): ReadonlyArray<Change> => {
  const former = chain.map(({ contents: { inputs } }) => inputs.content)
  if (contents.every((content, index) => content?.equals(former[index]!))) return []
  let growing: Pack.Chain | undefined
  return chain.map(({ number, pack }, index) => {
    const formerNewBytes = former[index]!.length
    const content = contents[index]
    if (content === undefined) return { number, bytes: undefined, formerNewBytes, newBytes: 0 }
    const needs = pack.isKept ? Pack.readHead(number, pack.bytes).needs : PackRanges.none
    const written = Pack.write(number, content, needs, growing)
    growing = written.chain
    return { number, bytes: written.bytes(), formerNewBytes, newBytes: content.length }
  })
}
