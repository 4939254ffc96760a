/**
 * Finds the pieces that texts reach, directly or through other pieces. Goes through the packs from the newest to the oldest:
 * a piece is only referenced by its own pack and by newer ones, so all references to the pieces of a pack are known when its
 * turn comes, and no other pack has to be open.
 */
import * as Sorted from "../Sorted.ts"
import { ByteReader } from "./format/Bytes.ts"
import type * as PackContent from "./format/PackContent.ts"
import * as Template from "./format/Template.ts"
import { keyOf, type PieceNumber } from "./Join.ts"
import { PieceSet } from "./PieceSet.ts"

/** The pieces of one kind that a pack added. */
interface Added {
  /** The number of the piece before its first one. */
  readonly before: number
  readonly spans: ReadonlyArray<PackContent.TemplateSpan>
}

/** The pieces of one kind: all that are reached, and where those of the packs are that are visited now. */
class ReachedOfKind {
  readonly #reached: PieceSet
  /** In ascending order. */
  #visited: ReadonlyArray<Added> = []
  #onReached: (number: number, span: PackContent.TemplateSpan) => void = () => {}

  constructor(from?: ReachedOfKind) {
    this.#reached = new PieceSet(from === undefined ? undefined : from.#reached)
  }

  get operations(): number {
    return this.#reached.operations
  }

  /** Takes the pieces of the next older packs, and passes on those that are reached already. */
  visit(visited: ReadonlyArray<Added>, onReached: (number: number, span: PackContent.TemplateSpan) => void): void {
    this.#visited = visited.filter(({ spans }) => spans.length > 0)
    this.#onReached = onReached
    for (const { before, spans } of this.#visited) {
      this.#reached.forEach(before + 1, before + spans.length, (number) =>
        onReached(number, spans[number - before - 1]!)
      )
    }
  }

  /** Reaches pieces, and passes on those of the visited packs that were not reached before. */
  reach(first: number, last: number): void {
    let from = first
    const start = Sorted.firstNot(this.#visited, ({ before, spans }) => before + spans.length < first)
    for (let at = start; at < this.#visited.length && from <= last; at++) {
      const { before, spans } = this.#visited[at]!
      if (before >= last) break
      if (from <= before) this.#reached.add(from, before)
      from = Math.max(from, before + 1)
      const to = Math.min(last, before + spans.length)
      this.#reached.add(from, to, (number) => this.#onReached(number, spans[number - before - 1]!))
      from = to + 1
    }
    if (from <= last) this.#reached.add(from, last)
  }
}

export class ReachedPieces {
  readonly #history: ReachedOfKind
  readonly #parts: ReachedOfKind
  readonly #shared: Map<string, Buffer>
  #references = 0

  /** Copies another one. */
  constructor(from?: ReachedPieces) {
    this.#history = new ReachedOfKind(from === undefined ? undefined : from.#history)
    this.#parts = new ReachedOfKind(from === undefined ? undefined : from.#parts)
    this.#shared = new Map(from === undefined ? [] : from.#shared)
  }

  /** The names of the shared pieces that are reached so far. Copies, which retain no content of a pack. */
  get shared(): ReadonlyArray<Buffer> {
    return Array.from(this.#shared.values())
  }

  /** What calls of `visit` of this copy have cost: references that were read, and operations on sets of pieces. */
  get operations(): number {
    return this.#references + this.#history.operations + this.#parts.operations
  }

  /**
   * The next older packs, opened, in ascending order, and the texts in them to start from. Returns the pieces of these packs that
   * are reached.
   */
  visit(
    contents: ReadonlyArray<PackContent.Contents>,
    texts: ReadonlyArray<PackContent.TemplateSpan>
  ): ReadonlyMap<PieceNumber, PackContent.TemplateSpan> {
    const reached = new Map<PieceNumber, PackContent.TemplateSpan>()
    /** Templates that are still to be read. */
    const pending = [...texts]
    const onReached = (sign: 1 | -1) => (number: number, span: PackContent.TemplateSpan) => {
      reached.set(sign * number, span)
      pending.push(span)
    }
    this.#history.visit(
      contents.map(({ before, history }) => ({ before: before.history, spans: history })),
      onReached(1)
    )
    this.#parts.visit(
      contents.map(({ before, parts }) => ({ before: before.parts, spans: parts })),
      onReached(-1)
    )
    const visitor: Template.TemplateVisitor = {
      part: (number) => {
        this.#references++
        this.#parts.reach(number, number)
      },
      history: (first, count) => {
        this.#references++
        this.#history.reach(first, first + count - 1)
      },
      shared: (sha256) => {
        this.#references++
        const key = keyOf(sha256)
        if (!this.#shared.has(key)) this.#shared.set(key, Buffer.from(sha256))
      }
    }
    for (let span = pending.pop(); span !== undefined; span = pending.pop()) {
      Template.read(new ByteReader(span.content, span.start), visitor)
    }
    return reached
  }
}
