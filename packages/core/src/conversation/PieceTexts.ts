/**
 * The texts of the pieces of a session, from chains that are kept open while they are used. A piece is found by its number: each pack
 * says how many pieces there were before it.
 */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Pack from "../payload/format/Pack.ts"
import type * as PackContent from "../payload/format/PackContent.ts"
import * as Template from "../payload/format/Template.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import * as Join from "../payload/Join.ts"
import * as EventReader from "../read/EventReader.ts"
import { LruCache } from "../read/LruCache.ts"
import * as OpenChain from "../read/OpenChain.ts"
import type { Storage } from "../Storage.ts"
import * as Sorted from "../Sorted.ts"
import type { Reference } from "./Skeleton.ts"
import * as Skeleton from "./Skeleton.ts"

/** Bytes of open chains and of shared texts, of all sessions. */
const cachedChainBytes = 24 * 1024 * 1024
const cachedSharedBytes = 16 * 1024 * 1024

/** Characters of texts that are kept as they were parsed. */
const cachedParsedLength = 6 * 1024 * 1024

/** A larger chain is not kept beyond the caches, in bytes. */
const maxKeptBytes = 1024 * 1024

export interface TextCaches {
  /** By the session, and the number of their first pack. */
  readonly chains: LruCache<string, OpenChain.OpenChain>
  /** By the project, and `Join.keyOf` of their names. */
  readonly shared: LruCache<string, Buffer>
  /** What texts were parsed to: by the session, and what they are. */
  readonly parsed: LruCache<string, unknown>
}

export const makeCaches = (): TextCaches => ({
  chains: new LruCache(cachedChainBytes),
  shared: new LruCache(cachedSharedBytes),
  parsed: new LruCache(cachedParsedLength)
})

export const clear = ({ chains, parsed, shared }: TextCaches): void => {
  for (const cache of [chains, parsed, shared]) cache.clear()
}

const limits = { maxBytes: EventReader.maxTextBytes }

/** Where the packs of a chain are, and the first of their pieces. */
interface Extent {
  readonly from: number
  to: number
  readonly history: number
  readonly parts: number
}

export class PieceTexts {
  readonly #storage: Storage["Service"]
  readonly #project: ProjectId
  readonly #session: number
  readonly #caches: TextCaches
  /** Distinguishes the chains of this generation of the session from those of others. */
  readonly #name: string
  /** In ascending order. */
  readonly #extents: Array<Extent> = []
  #lastExtent: Extent | undefined
  #last: OpenChain.OpenChain | undefined

  constructor(
    storage: Storage["Service"],
    caches: TextCaches,
    {
      generation,
      project,
      session
    }: { readonly project: ProjectId; readonly session: number; readonly generation: string }
  ) {
    this.#storage = storage
    this.#caches = caches
    this.#project = project
    this.#session = session
    this.#name = `${project}\u0000${session}\u0000${generation}\u0000`
  }

  /** Approximate memory, in bytes. */
  get costBytes(): number {
    return 64 * this.#extents.length
  }

  /** The next chain, or the last one again, which was extended. */
  add(open: OpenChain.OpenChain): void {
    const [first] = open.contents
    const [from, to] = [open.packs[0]?.number, open.packs.at(-1)?.number]
    if (first === undefined || from === undefined || to === undefined) return
    const last = this.#extents.at(-1)
    if (last?.from === from) last.to = to
    else this.#extents.push({ from, to, history: first.before.history, parts: first.before.parts })
    this.#caches.chains.set(this.#name + from, open, OpenChain.bytesOf(open))
    this.#keepLast(this.#extents.at(-1)!, open)
  }

  /** Forgets the chain that was used last, if it is large. */
  release(): void {
    if (this.#last === undefined || OpenChain.bytesOf(this.#last) <= maxKeptBytes) return
    this.#last = undefined
    this.#lastExtent = undefined
  }

  /** What a text was parsed to. The name says which text of the session it is. */
  kept<A>(name: string): A | undefined {
    return this.#caches.parsed.get(this.#name + name) as A | undefined
  }

  keep<A extends { readonly length: number }>(name: string, parsed: A): A {
    this.#caches.parsed.set(this.#name + name, parsed, parsed.length)
    return parsed
  }

  /** The content of a pack. Dies with `Damage` if it cannot be read. */
  readonly contentsOf = Effect.fnUntraced(function* (this: PieceTexts, pack: number) {
    const extent = lastBelow(this.#extents, ({ from }) => from <= pack)
    if (extent === undefined) throw new Damage(`Pack ${pack} is missing`)
    const open = this.#caches.chains.get(this.#name + extent.from) ?? (yield* this.#open(extent))
    const index = open.packs.findIndex(({ number }) => number === pack)
    if (index === -1) throw open.damage ?? new Damage(`Pack ${pack} is missing`)
    return open.contents[index]!
  })

  /** The text of what a reference stands for. Dies with `Damage` if it cannot be read. */
  textOf(reference: Reference): Effect.Effect<Buffer, StorageUnavailable> {
    switch (reference.kind) {
      case "history":
        return reference.count === 1
          ? this.pieceText(reference.first)
          : Effect.map(
              Effect.forEach(
                Array.from({ length: reference.count }, (_, n) => reference.first + n),
                (number) => this.pieceText(number)
              ),
              (texts) => Buffer.from(texts.map(String).join(reference.separator))
            )
      case "part":
        return this.pieceText(-reference.number)
      default:
        return this.#shared(reference.sha256)
    }
  }

  /** A text with tokens, with what they stand for. Dies with `Damage`. */
  readonly whole = Effect.fnUntraced(function* (this: PieceTexts, text: string) {
    const references = Skeleton.referencesIn(text)
    if (references.length === 0) return text
    const texts = yield* Effect.forEach(references, (reference) => this.textOf(reference))
    let at = 0
    return Skeleton.replaced(text, () => texts[at++]!.toString())
  })

  /** The text of a piece: of the history if its number is positive, else of a part. Dies with `Damage`. */
  pieceText(number: Join.PieceNumber): Effect.Effect<Buffer, StorageUnavailable> {
    return Effect.suspend(() => {
      const text = this.textNow(number)
      return text === undefined ? this.#pieceText(number) : Effect.succeed(text)
    })
  }

  /** The same if nothing of it has to be loaded, else undefined. Throws `Damage`. */
  textNow(number: Join.PieceNumber): Buffer | undefined {
    const span = this.#known(number)
    if (span === undefined) return undefined
    const text = this.#join(span, { get: (piece) => this.#known(piece) }, this.#cachedShared)
    return Buffer.isBuffer(text) ? text : undefined
  }

  readonly #pieceText = Effect.fnUntraced(function* (this: PieceTexts, number: Join.PieceNumber) {
    /** What this text needs stays, whatever the caches do. */
    const pinned = new Map<Join.PieceNumber, PackContent.TemplateSpan>()
    const shared = new Map<string, Buffer>()
    const span = this.#known(number) ?? (yield* this.#load(number))
    const pieces: Join.Pieces = { get: (piece) => pinned.get(piece) ?? this.#known(piece) }
    for (;;) {
      const text = this.#join(span, pieces, { get: (key) => shared.get(key) ?? this.#cachedShared.get(key) })
      if (Buffer.isBuffer(text)) return text
      if (typeof text.missing === "number") pinned.set(text.missing, yield* this.#load(text.missing))
      else shared.set(Join.keyOf(text.missing), yield* this.#shared(text.missing))
    }
  })

  /** The text of a template, or what it needs to be loaded first. Throws `Damage`. */
  #join(
    { content, start, end }: PackContent.TemplateSpan,
    pieces: Join.Pieces,
    shared: Join.SharedTexts
  ): Buffer | { readonly missing: Join.PieceNumber | Buffer } {
    const literal = Template.literalAlone(content, start, end)
    if (literal !== undefined) return literal
    let missing: Join.PieceNumber | undefined
    const found: Join.Pieces = {
      get: (piece) => {
        const known = pieces.get(piece)
        if (known === undefined) missing = piece
        return known
      }
    }
    try {
      const { done, value } = Join.joining({ content, start, end }, found, shared, limits).next()
      return done === true ? value : { missing: value }
    } catch (error) {
      if (missing === undefined) throw error
      return { missing }
    }
  }

  readonly #cachedShared: Join.SharedTexts = {
    get: (key) => this.#caches.shared.get(`${this.#project}\u0000${key}`)
  }

  /** The template of a piece in a chain that is open. */
  #known(number: Join.PieceNumber): PackContent.TemplateSpan | undefined {
    const extent = this.#extentOf(number)
    if (extent === undefined) return undefined
    // Most pieces are in the chain of the one before.
    if (extent !== this.#lastExtent) {
      const open = this.#caches.chains.get(this.#name + extent.from)
      if (open === undefined) return undefined
      this.#keepLast(extent, open)
    }
    return spanOf(this.#last!, number)
  }

  #keepLast(extent: Extent, open: OpenChain.OpenChain): void {
    this.#lastExtent = extent
    this.#last = open
  }

  /** The same of a chain that must be opened again. Dies with `Damage` if there is no such piece. */
  readonly #load = Effect.fnUntraced(function* (this: PieceTexts, number: Join.PieceNumber) {
    const extent = this.#extentOf(number)
    if (extent === undefined) throw new Join.PieceMissing(number)
    const open = yield* this.#open(extent)
    const span = spanOf(open, number)
    if (span === undefined) throw open.damage ?? new Join.PieceMissing(number)
    // A copy, which does not keep the rest of the chain.
    return { content: Buffer.from(span.content.subarray(span.start, span.end)), start: 0, end: span.end - span.start }
  })

  readonly #open = Effect.fnUntraced(function* (this: PieceTexts, extent: Extent) {
    const packs = yield* this.#storage.readPacks(this.#project, this.#session, [extent])
    const [chain] = Pack.chainsOf(packs)
    if (chain === undefined) throw new Damage(`Pack ${extent.from} is missing`)
    const open = OpenChain.openOrDamage(chain)
    this.#caches.chains.set(this.#name + extent.from, open, OpenChain.bytesOf(open))
    return open
  })

  readonly #shared = Effect.fnUntraced(function* (this: PieceTexts, sha256: Buffer) {
    const key = `${this.#project}\u0000${Join.keyOf(sha256)}`
    const known = this.#caches.shared.get(key)
    if (known !== undefined) return known
    const [piece] = yield* this.#storage.readShared(this.#project, [sha256])
    if (piece === undefined) throw new Join.PieceMissing(sha256)
    const text = SharedPiece.textOf(piece.bytes)
    if (!SharedPiece.isNamed(sha256, text)) throw new Damage("A shared piece is not what it is named after")
    this.#caches.shared.set(key, text, text.length)
    return text
  })

  /** The last chain that had fewer pieces before it. */
  #extentOf(number: Join.PieceNumber): Extent | undefined {
    return lastBelow(this.#extents, (extent) => isBefore(extent, number))
  }
}

/** Whether a piece is not among the first ones of its kind, where the counts say how many these are. */
const isBefore = ({ history, parts }: PackContent.Counts, number: Join.PieceNumber): boolean =>
  number > 0 ? history < number : parts < -number

/** The last of sorted rows for which it is true. */
const lastBelow = <Row>(rows: ReadonlyArray<Row>, isBelow: (row: Row) => boolean): Row | undefined =>
  rows[Sorted.firstNot(rows, isBelow) - 1]

const spanOf = ({ contents }: OpenChain.OpenChain, number: Join.PieceNumber): PackContent.TemplateSpan | undefined => {
  const content = lastBelow(contents, ({ before }) => isBefore(before, number))
  if (content === undefined) return undefined
  return number > 0
    ? content.history[number - content.before.history - 1]
    : content.parts[-number - content.before.parts - 1]
}
