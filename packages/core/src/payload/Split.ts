/**
 * From an event's two texts to a pack: what is known is named, what is new is written. `Join` is the way back.
 */
import { createHash, hash } from "node:crypto"
import { ByteWriter } from "./format/Bytes.ts"
import { keyOf, type PieceNumber } from "./Join.ts"
import type { SessionIndex, Learned } from "./SessionIndex.ts"
import {
  type KnownPrefix,
  type KnownPrefixCandidate,
  type Conversation,
  endingBytes,
  type PieceCandidate,
  type ScannedPayload,
  type ScannedValue
} from "./scan/PieceScanner.ts"
import * as Pack from "./format/Pack.ts"
import * as PackContent from "./format/PackContent.ts"
import * as PackRanges from "./format/PackRanges.ts"
import * as PiecePolicy from "./scan/PiecePolicy.ts"
import { quote } from "./scan/Scan.ts"
import * as SharedPiece from "./format/SharedPiece.ts"
import { type Run, TemplateWriter, writeLiteral } from "./format/Template.ts"

/** The next pack of a session, as it will be if the session is still what it was known to be. */
export interface Draft {
  readonly number: number
  readonly pack: Pack.Written
  readonly added: PackContent.Counts
  readonly shared: ReadonlyArray<SharedPiece.SharedPiece>
  /** Bytes of its content, uncompressed. */
  readonly newBytes: number
  readonly learned: Learned
}

/** Of a session that is not known, the values of a text this long are hashed when somebody asks for them. In bytes. */
const deferHashesFromBytes = 64 * 1024

/** Memory that one split after the other writes into: to take and free so much for each would cost more than the writing. */
class Scratch {
  readonly texts = new ByteWriter()
  readonly history = new ByteWriter()
  readonly parts = new ByteWriter()
  readonly content = new ByteWriter()
  /** Templates that are being written, by depth. */
  readonly templates: Array<ByteWriter> = []

  clear(): this {
    for (const writer of [this.texts, this.history, this.parts, this.content]) writer.clear()
    return this
  }
}

/** What was needed once for a larger one is not kept, in bytes. */
const maxScratch = 2 * 1024 * 1024

let scratch = new Scratch()

export const split = (payload: ScannedPayload, sessionIndex: SessionIndex): Draft => {
  const draft = new Splitter(payload, sessionIndex, scratch.clear()).split()
  if (payload.text.length > maxScratch) scratch = new Scratch()
  return draft
}

class Splitter {
  readonly #text: Buffer
  readonly #inputs: ScannedValue
  readonly #output: ScannedValue
  readonly #index: SessionIndex
  readonly #deferHashes: boolean
  readonly #before: PackContent.Counts
  readonly #scratch: Scratch
  #history = 0
  #parts = 0
  readonly #shared = new Map<string, SharedPiece.SharedPiece>()
  readonly #numbers = new Map<string, PieceNumber>()
  /** The pieces of the conversations' elements. */
  readonly #pieceAt = new Map<PieceCandidate, PieceNumber>()
  readonly #unhashed: Array<{ readonly candidate: PieceCandidate; readonly piece: PieceNumber }> = []
  /** The packs that the texts take to read, and those that the new pieces take. */
  #needs = PackRanges.none
  #dependencies = PackRanges.none
  /** New pieces around the place that is being written. */
  #depth = 0

  constructor({ inputs, output, text }: ScannedPayload, sessionIndex: SessionIndex, scratch: Scratch) {
    this.#scratch = scratch
    this.#text = text
    this.#inputs = inputs
    this.#output = output
    this.#index = sessionIndex
    this.#deferHashes =
      sessionIndex.isEmpty && inputs.end - inputs.start + output.end - output.start >= deferHashesFromBytes
    this.#before = sessionIndex.counts
  }

  split(): Draft {
    const { content: out, history: historyTemplates, parts: partTemplates, texts } = this.#scratch
    this.#writeTemplate(this.#inputs, texts)
    this.#writeTemplate(this.#output, texts)
    const { history, parts } = this.#before
    const added = { history: this.#history, parts: this.#parts }
    const templates = [texts, historyTemplates, partTemplates].map((each) => each.view())
    const content = PackContent.write({ before: this.#before, added }, templates, out)

    const number = this.#index.packs + 1
    const { chain } = this.#index
    const pack = Pack.write(number, content, PackRanges.union(this.#needs, this.#dependencies), chain)
    const chainStart = pack.kind === "continues" ? chain!.start : number
    const own = PackRanges.add(this.#dependencies, { from: chainStart, to: number })
    return {
      number,
      pack,
      added,
      shared: Array.from(this.#shared.values()),
      newBytes: content.length,
      learned: {
        facts: { number, before: this.#before, chainStart, dependencies: this.#dependencies },
        after: { history: history + added.history, parts: parts + added.parts },
        chain: pack.chain,
        numbers: this.#numbers,
        knownPrefixes: this.#inputs.conversations.flatMap((each) => this.#nextPrefix(each, own) ?? []),
        deferredHashes: this.#deferHashes ? { bytes: this.#text.length, numbers: () => this.#hashAll() } : undefined
      }
    }
  }

  #writeTemplate(
    { candidates, end, start }: Pick<ScannedValue, "start" | "end" | "candidates">,
    out: ByteWriter
  ): void {
    const writer = new TemplateWriter(out)
    let at = start
    for (const candidate of candidates) {
      writer.literal(this.#text, at, candidate.start)
      at = candidate.end
      if (candidate.kind === "known-prefix") {
        this.#writeKnownPrefix(candidate.prefix, writer)
        continue
      }
      const piece = this.#pieceFor(candidate)
      if (piece > 0) writer.history(piece)
      else writer.part(-piece)
    }
    writer.literal(this.#text, at, end)
    writer.end()
  }

  #writeKnownPrefix({ packs, runs, separator }: KnownPrefix, writer: TemplateWriter): void {
    for (const [index, { count, first }] of runs.entries()) {
      if (index > 0) writer.literal(separator)
      writer.history(first, count, separator)
    }
    this.#need(packs)
  }

  #need(packs: PackRanges.PackRanges): void {
    if (this.#depth === 0) this.#needs = PackRanges.union(this.#needs, packs)
    else this.#dependencies = PackRanges.union(this.#dependencies, packs)
  }

  /** The number of a value, new if it is not known. */
  #pieceFor(candidate: PieceCandidate): PieceNumber {
    if (this.#deferHashes) {
      const piece = this.#put(candidate, undefined)
      this.#unhashed.push({ candidate, piece })
      return piece
    }
    const piece = this.#find(candidate)
    if (candidate.kind === "history") this.#pieceAt.set(candidate, piece)
    return piece
  }

  #find(candidate: PieceCandidate): PieceNumber {
    const sha256 = hash("sha256", this.#valueAt(candidate), "buffer")
    const key = keyOf(sha256)
    const own = this.#numbers.get(key)
    const known = own === undefined ? this.#index.numberOf(key) : undefined
    const found = own ?? known
    const packs = known === undefined ? PackRanges.none : this.#index.packsOf(known)!
    this.#need(packs)
    if (found !== undefined && (found > 0 || candidate.kind !== "history")) return found

    const piece = found === undefined ? this.#put(candidate, sha256) : this.#putAgain(found, packs)
    this.#numbers.set(key, piece)
    return piece
  }

  /** Gives a part a number in the history too, so that runs go on over it. */
  #putAgain(piece: PieceNumber, packs: PackRanges.PackRanges): PieceNumber {
    this.#dependencies = PackRanges.union(this.#dependencies, packs)
    const writer = new TemplateWriter(this.#scratch.history)
    writer.part(-piece)
    writer.end()
    return this.#next("history")
  }

  #put(candidate: PieceCandidate, sha256: Buffer | undefined): PieceNumber {
    const { end, kind, start } = candidate
    // Nothing is known that small parts could be told from; but what is shared may be known elsewhere.
    const inner = this.#deferHashes ? candidate.inner.filter(mayHoldShared) : candidate.inner
    const out = kind === "history" ? this.#scratch.history : this.#scratch.parts
    if ((this.#text[start] === quote || kind === "setting") && PiecePolicy.isShared(end - start, kind === "setting")) {
      const value = this.#valueAt(candidate)
      const name = sha256 ?? hash("sha256", value, "buffer")
      const key = keyOf(name)
      const shared = this.#shared.get(key) ?? SharedPiece.make(name, value)
      this.#shared.set(key, shared)
      const writer = new TemplateWriter(out)
      writer.shared(shared.sha256)
      writer.end()
    } else if (inner.length === 0) {
      writeLiteral(out, this.#text, start, end)
    } else {
      // Pieces in it come to stand before it.
      const template = (this.#scratch.templates[this.#depth] ??= new ByteWriter())
      template.clear()
      this.#depth++
      this.#writeTemplate({ start, end, candidates: inner }, template)
      this.#depth--
      out.bytes(template.view())
    }
    return this.#next(kind)
  }

  #next(kind: PieceCandidate["kind"]): PieceNumber {
    return kind === "history" ? this.#before.history + ++this.#history : -(this.#before.parts + ++this.#parts)
  }

  /** What the next call of this conversation will most likely begin with, if that is more than what is known already. */
  #nextPrefix({ elements, known, start }: Conversation, own: PackRanges.PackRanges): KnownPrefix | undefined {
    const text = this.#text
    const settled = elements.slice(0, -PiecePolicy.unsettledElements)
    const last = settled.at(-1)
    // All of it must be elements that are pieces, from the first one on.
    if (last === undefined || this.#deferHashes || (known === undefined && settled[0]!.start !== start))
      return undefined
    const separator = separatorOf(text, known, settled)
    if (separator === undefined) return undefined

    const runs: Array<Run> = [...(known?.prefix.runs ?? [])]
    let packs = known?.prefix.packs ?? PackRanges.none
    for (const candidate of settled) {
      const piece = this.#pieceAt.get(candidate)!
      // Only the history runs.
      if (piece < 0) return undefined
      const run = runs.at(-1)
      if (run !== undefined && run.first + run.count === piece) runs[runs.length - 1] = { ...run, count: run.count + 1 }
      else runs.push({ first: piece, count: 1 })
      packs = PackRanges.union(packs, piece > this.#before.history ? own : this.#index.packsOf(piece)!)
    }
    const hash = known === undefined ? createHash("sha256") : known.hash.copy()
    const sha256 = hash.update(text.subarray(known?.end ?? start, last.end)).digest()
    const ending = Buffer.from(text.subarray(Math.max(start, last.end - endingBytes), last.end))
    return { bytes: last.end - start, sha256, ending, runs, separator, packs }
  }

  #valueAt({ end, start }: PieceCandidate): Buffer {
    return this.#text.subarray(start, end)
  }

  /** The numbers of all that was put without looking. */
  #hashAll(): ReadonlyMap<string, PieceNumber> {
    const numbers = new Map<string, PieceNumber>()
    for (const { candidate, piece } of this.#unhashed) {
      const key = keyOf(hash("sha256", this.#valueAt(candidate), "buffer"))
      if (!numbers.has(key) || piece > 0) numbers.set(key, piece)
    }
    return numbers
  }
}

const mayHoldShared = ({ end, inner, kind, start }: PieceCandidate): boolean =>
  kind === "setting" || end - start >= PiecePolicy.sharedBytes || inner.some(mayHoldShared)

/** What stands between the elements, if there are several and it is the same everywhere. */
const separatorOf = (
  text: Buffer,
  known: KnownPrefixCandidate | undefined,
  elements: ReadonlyArray<PieceCandidate>
): Buffer | undefined => {
  let separator = known?.prefix.separator
  let end = known?.end
  for (const candidate of elements) {
    if (end !== undefined) {
      const between = text.subarray(end, candidate.start)
      if (separator !== undefined && !separator.equals(between)) return undefined
      separator ??= Buffer.from(between)
    }
    end = candidate.end
  }
  return separator
}
