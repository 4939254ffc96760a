/**
 * A mark-and-sweep over one session: finds the pieces that no remaining event reaches, and blanks them. Steps go through the
 * packs from the newest to the oldest. Other processes may append between two steps, provided that their packs do not
 * reference blanked pieces (the session's generation ensures it); `observe` marks from those packs.
 *
 * A damaged pack is deleted, and with it those of its chain that come after it: they may contain what an erased event left. The
 * events that they belong to, or that reach into them, could no longer be read.
 */
import type { PieceNumber } from "./Join.ts"
import type { Chain } from "./format/Chain.ts"
import * as Pack from "./format/Pack.ts"
import * as PackContent from "./format/PackContent.ts"
import * as PackHead from "./format/PackHead.ts"
import * as PackRanges from "./format/PackRanges.ts"
import { ReachedPieces } from "./ReachedPieces.ts"

/** A pack, and whether its event still exists. */
export interface SweepPack extends Pack.StoredPack {
  readonly isKept: boolean
}

export interface Change {
  readonly number: number
  /** The rewritten pack. Undefined: nothing in it is reached, and it is deleted. */
  readonly bytes: Buffer | undefined
  /** Size of the content in bytes, uncompressed, before and after. */
  readonly formerNewBytes: number
  readonly newBytes: number
}

export interface Step {
  readonly changes: ReadonlyArray<Change>
  /** Pieces that were blanked, or deleted with their packs. */
  readonly pieces: number
  /** Stored bytes that were freed. */
  readonly bytes: number
  /** Packs that were deleted because they could not be opened. */
  readonly damaged: number
  /** Whether the session has no more packs to sweep. */
  readonly isLast: boolean
}

interface OpenSweepPack {
  readonly number: number
  readonly pack: SweepPack
  readonly contents: PackContent.Contents
}

/** The highest pack number that a storage can represent. */
const maxPackNumber = 2 ** 31 - 1

const emptyTemplate = Buffer.of(0)

/** A step opens no further chain after this many operations: a tenth of a second. One chain has up to 150,000 and its references. */
const maxStepOperations = 100_000

export class Sweep {
  readonly #reach: ReachedPieces
  /** The lowest pack that was swept. */
  #low = Number.POSITIVE_INFINITY
  /** The highest pack that was marked from. */
  #high = 0
  /** The start of its chain. */
  #highChainStart = 1
  #remaining = 0
  /** Pieces in the packs that were marked from. */
  #pieces = 0

  /** Copies the state of another sweep, so that a retried transaction can start from it again. */
  constructor(from?: Sweep) {
    this.#reach = new ReachedPieces(from === undefined ? undefined : from.#reach)
    if (from === undefined) return
    this.#low = from.#low
    this.#high = from.#high
    this.#highChainStart = from.#highChainStart
    this.#remaining = from.#remaining
  }

  /** What to read next: packs downwards from `to`, and all packs above `above`, some of which may be observed already. */
  get next(): { readonly to: number; readonly above: number } {
    const isFirst = this.#low === Number.POSITIVE_INFINITY
    return isFirst
      ? { to: maxPackNumber, above: maxPackNumber - 1 }
      : { to: this.#low - 1, above: this.#highChainStart - 1 }
  }

  /** What this copy has cost: pieces in the packs, references in them, and operations on sets of pieces. */
  get operations(): number {
    return this.#pieces + this.#reach.operations
  }

  /** The names of the shared pieces that are reached. Complete after the last step. */
  get owned(): ReadonlyArray<Buffer> {
    return this.#reach.shared
  }

  /** How many pieces the session's packs have left, but for those that cannot be opened. Complete after the last step. */
  get remaining(): number {
    return this.#remaining
  }

  /**
   * Marks from packs that were appended since the last step. They are not rewritten. Opens one chain at a time, because there
   * may be many.
   */
  observe(packs: ReadonlyArray<SweepPack>): void {
    const byNumber = new Map(packs.map((pack) => [pack.number, pack]))
    const marked = this.#high
    for (const chain of Pack.chainsOf(packs).toReversed()) {
      if (chain.at(-1)!.number <= marked) break
      const appended = open(chain, byNumber).packs.filter(({ number }) => number > marked)
      this.#mark(appended)
      for (const { contents } of appended) this.#remaining += PackContent.piecesIn(contents)
      this.#advanceHigh(chain)
    }
  }

  #advanceHigh(chain: Pack.StoredChain): void {
    const { number } = chain.at(-1)!
    if (number <= this.#high) return
    this.#high = number
    this.#highChainStart = chain[0]!.number
  }

  /**
   * Sweeps packs downwards from where the last step ended; the first step gets the session's last packs. If the start of the
   * lowest chain is not among the packs, the chain is left for the next step, unless there is none. Ends before the lowest chain
   * if it has taken `maxStepOperations`: the next step goes on there. `isLast` says that there are no packs below these.
   */
  step(packs: ReadonlyArray<SweepPack>, isLast: boolean): Step {
    const byNumber = new Map(packs.map((pack) => [pack.number, pack]))
    const chains = Pack.chainsOf(packs)
    const first = chains[0]?.[0]?.number ?? Number.POSITIVE_INFINITY
    // The start of these packs is not there: in the next step, or, if there are too many of them or none follows, lost.
    const headless = packs.filter(({ number }) => number < first)
    const isLost = isLast || headless.length === packs.length
    if (chains.length > 0) this.#advanceHigh(chains.at(-1)!)

    const changes: Array<Change> = []
    const damaged: Array<number> = []
    let pieces = 0
    let chainsLeft = chains.length
    const maxOperations = this.operations + maxStepOperations
    while (chainsLeft > 0 && this.operations < maxOperations) {
      const chain = open(chains[--chainsLeft]!, byNumber)
      const reached = this.#mark(chain.packs)
      const blankedPacks = chain.packs.map((each) => blank(each, reached))
      for (const [index, { blanked }] of blankedPacks.entries()) {
        pieces += blanked
        this.#remaining += PackContent.piecesIn(chain.packs[index]!.contents) - blanked
      }
      const contents = blankedPacks.map(({ content }) => content)
      changes.push(...rewrite(chain.packs, contents))
      damaged.push(...chain.damaged)
    }
    const isWhole = chainsLeft === 0
    if (isWhole && isLost) damaged.push(...headless.map(({ number }) => number))
    if (!isWhole) this.#low = chains[chainsLeft]![0]!.number
    else this.#low = isLost ? (packs[0]?.number ?? 1) : first
    changes.push(...damaged.map((number) => deleted(byNumber.get(number)!)))
    let bytes = 0
    for (const change of changes) bytes += byNumber.get(change.number)!.bytes.length - (change.bytes?.length ?? 0)
    return { changes, pieces, bytes, damaged: damaged.length, isLast: isLast && isWhole }
  }

  /** Marks all that the remaining events of the packs reach. Returns the reached pieces that are in these packs. */
  #mark(packs: ReadonlyArray<OpenSweepPack>): ReadonlySet<PieceNumber> {
    const texts = packs.flatMap(({ contents, pack }) => (pack.isKept ? [contents.inputs, contents.output] : []))
    for (const { contents } of packs) this.#pieces += contents.history.length + contents.parts.length
    return new Set(
      this.#reach
        .visit(
          packs.map(({ contents }) => contents),
          texts
        )
        .keys()
    )
  }
}

/** Bytes of contents that one step unpacks, if they are of more than one pack. */
const maxStepBytes = 32 * 1024 * 1024

/** The last packs whose contents one step may unpack: at least one, if there are any. */
export const lastWithinStep = <A extends Pack.StoredPack>(packs: ReadonlyArray<A>): ReadonlyArray<A> => {
  let bytesLeft = maxStepBytes
  const lastOmitted = packs.findLastIndex(({ bytes }) => (bytesLeft -= PackHead.contentBytesOf(bytes)) < 0)
  return packs.slice(Math.min(lastOmitted + 1, packs.length - 1))
}

interface OpenSweepChain {
  readonly packs: ReadonlyArray<OpenSweepPack>
  readonly damaged: ReadonlyArray<number>
}

const open = (chain: Pack.StoredChain, byNumber: ReadonlyMap<number, SweepPack>): OpenSweepChain => {
  const { damaged, packs } = Pack.openChain(chain)
  return {
    damaged,
    packs: packs.map(({ content, number }) => ({
      number,
      pack: byNumber.get(number)!,
      contents: PackContent.read(content)
    }))
  }
}

const deleted = ({ bytes, number }: SweepPack): Change => ({
  number,
  bytes: undefined,
  formerNewBytes: PackHead.contentBytesOf(bytes),
  newBytes: 0
})

/** The pack's content with all that is not reached blanked, or undefined if nothing is reached. */
const blank = (
  { contents, pack: { isKept } }: OpenSweepPack,
  reached: ReadonlySet<PieceNumber>
): { readonly content: Buffer | undefined; readonly blanked: number } => {
  const { added, before, history, inputs, output, parts } = contents
  let blanked = 0
  const keep = ({ content, end, start }: PackContent.TemplateSpan): Buffer => content.subarray(start, end)
  const keepReached = (sign: 1 | -1, last: number) => (span: PackContent.TemplateSpan, index: number) => {
    if (reached.has(sign * (last + index + 1))) return keep(span)
    if (!PackContent.isEmpty(span)) blanked++
    return emptyTemplate
  }
  const pieces = [...history.map(keepReached(1, before.history)), ...parts.map(keepReached(-1, before.parts))]
  if (!isKept && pieces.every((piece) => piece === emptyTemplate)) return { content: undefined, blanked }
  const texts = [inputs, output].map((span) => (isKept ? keep(span) : emptyTemplate))
  return { content: PackContent.write({ before, added }, [...texts, ...pieces]), blanked }
}

/** The packs of a chain with new contents. If one changes, all are compressed again, because they are one stream. */
const rewrite = (
  chain: ReadonlyArray<OpenSweepPack>,
  contents: ReadonlyArray<Buffer | undefined>
): ReadonlyArray<Change> => {
  const former = chain.map(({ contents: { inputs } }) => inputs.content)
  if (contents.every((content, index) => content?.equals(former[index]!))) return []
  let newChain: Chain | undefined
  return chain.map(({ number, pack }, index) => {
    const formerNewBytes = former[index]!.length
    const content = contents[index]
    if (content === undefined) return { number, bytes: undefined, formerNewBytes, newBytes: 0 }
    const needs = pack.isKept ? PackHead.read(number, pack.bytes).needs : PackRanges.none
    const written = Pack.write(number, content, needs, newChain)
    newChain = written.chain
    return { number, bytes: written.bytes(), formerNewBytes, newBytes: content.length }
  })
}
