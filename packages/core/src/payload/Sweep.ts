/**
 * A mark-and-sweep over one session: finds the pieces that no remaining event reaches, and blanks them. Steps go through the
 * packs from the newest to the oldest. A piece is only referenced by its own pack and by newer ones, so all references to
 * the pieces of a pack are known when the sweep comes to it. Other processes may append between two steps, provided that
 * their packs do not reference blanked pieces (the session's generation ensures it); `observe` marks from those packs.
 */
import { ByteReader } from "./format/Bytes.ts"
import { keyOf, type PieceNumber } from "./Join.ts"
import * as Pack from "./format/Pack.ts"
import * as PackContent from "./format/PackContent.ts"
import * as PackHead from "./format/PackHead.ts"
import * as PackRanges from "./format/PackRanges.ts"
import * as Template from "./format/Template.ts"

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
}

interface OpenSweepPack {
  readonly number: number
  readonly pack: SweepPack
  readonly chainStart: number
  readonly contents: PackContent.Contents
}

/** The highest pack number that a storage can represent. */
const maxPackNumber = 2 ** 31 - 1

const emptyTemplate = Buffer.of(0)

export class Sweep {
  /** Pieces that are reached, in packs that were not swept yet. */
  readonly #reached: Set<PieceNumber>
  readonly #owned: Map<string, Buffer>
  /** The lowest pack that was swept. */
  #low = Number.POSITIVE_INFINITY
  /** The highest pack that was marked from. */
  #high = 0
  /** The start of its chain. */
  #highChainStart = 1

  /** Copies the state of another sweep, so that a retried transaction can start from it again. */
  constructor(from?: Sweep) {
    this.#reached = new Set(from === undefined ? [] : from.#reached)
    this.#owned = new Map(from === undefined ? [] : from.#owned)
    if (from === undefined) return
    this.#low = from.#low
    this.#high = from.#high
    this.#highChainStart = from.#highChainStart
  }

  /** What to read next: packs downwards from `to`, and all packs above `above`, some of which may be observed already. */
  get next(): { readonly to: number; readonly above: number } {
    const isFirst = this.#low === Number.POSITIVE_INFINITY
    return isFirst
      ? { to: maxPackNumber, above: maxPackNumber - 1 }
      : { to: this.#low - 1, above: this.#highChainStart - 1 }
  }

  /** The names of the shared pieces that are reached. Complete after the last step. */
  get owned(): ReadonlyArray<Buffer> {
    return Array.from(this.#owned.values())
  }

  /** Marks from packs that were appended since the last step. They are not rewritten. */
  observe(packs: ReadonlyArray<SweepPack>): void {
    const appended = open(packs).filter(({ number }) => number > this.#high)
    this.#mark(appended)
    this.#advanceHigh(appended)
  }

  #advanceHigh(packs: ReadonlyArray<OpenSweepPack>): void {
    const last = packs.at(-1)
    if (last === undefined || last.number <= this.#high) return
    this.#high = last.number
    this.#highChainStart = last.chainStart
  }

  /**
   * Sweeps packs downwards from where the last step ended; the first step gets the session's last packs. If the start of the
   * lowest chain is not among the packs, the chain is left for the next step.
   */
  step(packs: ReadonlyArray<SweepPack>): Step {
    const openPacks = open(packs)
    this.#advanceHigh(openPacks)
    this.#low = openPacks[0]?.number ?? 1
    const reached = this.#mark(openPacks)
    const changes: Array<Change> = []
    let pieces = 0
    let bytes = 0
    for (const chain of chainsOf(openPacks)) {
      const blankedPacks = chain.map((each) => blank(each, reached))
      pieces += blankedPacks.reduce((sum, { blanked }) => sum + blanked, 0)
      const chainChanges = rewrite(
        chain,
        blankedPacks.map(({ content }) => content)
      )
      changes.push(...chainChanges)
      for (const change of chainChanges) {
        bytes += chain.find(({ number }) => number === change.number)!.pack.bytes.length - (change.bytes?.length ?? 0)
      }
    }
    return { changes, pieces, bytes }
  }

  /** Marks all that the remaining events of the packs reach. Returns the reached pieces that are in these packs. */
  #mark(packs: ReadonlyArray<OpenSweepPack>): ReadonlySet<PieceNumber> {
    const spans = new Map<PieceNumber, PackContent.TemplateSpan>()
    for (const { contents } of packs) {
      const { before, history, parts } = contents
      for (const [index, span] of history.entries()) spans.set(before.history + index + 1, span)
      for (const [index, span] of parts.entries()) spans.set(-(before.parts + index + 1), span)
    }

    const reached = new Set<PieceNumber>()
    /** Templates that are still to be read. */
    const pending: Array<PackContent.TemplateSpan> = []
    const visit = (piece: PieceNumber) => {
      const span = spans.get(piece)
      if (span === undefined) {
        this.#reached.add(piece)
      } else if (!reached.has(piece)) {
        reached.add(piece)
        pending.push(span)
      }
    }
    const visitor: Template.TemplateVisitor = {
      part: (number) => visit(-number),
      history: (first, count) => {
        for (let index = 0; index < count; index++) visit(first + index)
      },
      shared: (sha256) => void this.#owned.set(keyOf(sha256), Buffer.from(sha256))
    }
    for (const { contents, pack } of packs) if (pack.isKept) pending.push(contents.inputs, contents.output)
    for (const piece of spans.keys()) if (this.#reached.delete(piece)) visit(piece)
    for (let span = pending.pop(); span !== undefined; span = pending.pop()) {
      Template.read(new ByteReader(span.content, span.start), visitor)
    }
    return reached
  }
}

const open = (packs: ReadonlyArray<SweepPack>): ReadonlyArray<OpenSweepPack> => {
  const byNumber = new Map(packs.map((pack) => [pack.number, pack]))
  return Pack.open(packs).map(({ chainStart, content, number }) => ({
    number,
    pack: byNumber.get(number)!,
    chainStart,
    contents: PackContent.read(content)
  }))
}

const chainsOf = (packs: ReadonlyArray<OpenSweepPack>): ReadonlyArray<ReadonlyArray<OpenSweepPack>> =>
  Array.from(Map.groupBy(packs, ({ chainStart }) => chainStart).values())

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
  let newChain: Pack.Chain | undefined
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
