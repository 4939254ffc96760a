/**
 * Turns an event's two texts into a pack: values in the session's index become references, new values are written out.
 * `Join` is the inverse.
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
  rescan,
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

/** The next pack of a session, valid if the session has not changed since its index was read. */
export interface Draft {
  readonly number: number
  readonly pack: Pack.Written
  readonly added: PackContent.Counts
  readonly shared: ReadonlyArray<SharedPiece.SharedPiece>
  /** Size of its content in bytes, uncompressed. */
  readonly newBytes: number
  readonly learned: Learned
}

/** If the index is empty and the texts have at least this many bytes, values are hashed only when one is looked up. */
const deferHashesFromBytes = 64 * 1024

/** Buffers that are reused by each split, because allocating them would cost more than the writing. */
class Scratch {
  readonly texts = new ByteWriter()
  readonly history = new ByteWriter()
  readonly parts = new ByteWriter()
  readonly content = new ByteWriter()
  /** The templates being written, by depth. */
  readonly templates: Array<ByteWriter> = []

  clear(): this {
    for (const writer of [this.texts, this.history, this.parts, this.content]) writer.clear()
    return this
  }
}

/** After a larger text, the buffers are freed. */
const maxScratchBytes = 2 * 1024 * 1024

let scratch = new Scratch()

/**
 * Bytes of other packs, uncompressed, that a read of the event unpacks at most, beyond the size of the event. Without a bound a
 * small event could reference one message of each of very many large packs. Values beyond it are stored again.
 */
const maxNeededBytes = 32 * 1024 * 1024

/**
 * How often the bytes that a read unpacks are summed up at most: once for each pack that is needed, in time that grows with the
 * packs. An event may have messages of tens of thousands of packs; those beyond this number are stored again.
 */
const maxSums = 4_096

export const split = (payload: ScannedPayload, index: SessionIndex): Draft => {
  const draft = splitterOf(payload, index).split()
  if (payload.text.length > maxScratchBytes) scratch = new Scratch()
  return draft
}

const splitterOf = (payload: ScannedPayload, index: SessionIndex): Splitter => {
  const splitter = new Splitter(payload, index, scratch.clear())
  const { conversations } = payload.inputs
  const fits = conversations.every(({ known }) => known === undefined || splitter.mayNeed(known.prefix.packs))
  return fits ? splitter : new Splitter(rescan(payload), index, scratch.clear())
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
  /** The piece numbers of the conversations' elements. */
  readonly #elementPieces = new Map<PieceCandidate, PieceNumber>()
  readonly #unhashed: Array<{ readonly candidate: PieceCandidate; readonly piece: PieceNumber }> = []
  /** The packs needed to read the texts. */
  #needs = PackRanges.none
  /** The packs needed to read the new pieces. */
  #dependencies = PackRanges.none
  /** Bytes of other packs that a read of the event may unpack; infinite if all packs have no more together. */
  readonly #maxNeededBytes: number
  /** How often these bytes may be summed up. */
  #sumsLeft = maxSums
  /** How many new pieces enclose the current position. */
  #depth = 0

  constructor({ inputs, output, text }: ScannedPayload, index: SessionIndex, scratch: Scratch) {
    this.#scratch = scratch
    this.#text = text
    this.#inputs = inputs
    this.#output = output
    this.#index = index
    this.#deferHashes = index.isEmpty && inputs.end - inputs.start + output.end - output.start >= deferHashesFromBytes
    this.#before = index.counts
    const maxBytes = text.length + maxNeededBytes
    this.#maxNeededBytes = index.contentBytes > maxBytes ? maxBytes : Number.POSITIVE_INFINITY
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
        facts: {
          number,
          before: this.#before,
          chainStart,
          contentBytes: content.length,
          dependencies: this.#dependencies
        },
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
    this.#requirePacks(packs)
  }

  /** Whether the event can be read within its bound if it needs these packs, too. */
  mayNeed(packs: PackRanges.PackRanges): boolean {
    if (this.#maxNeededBytes === Number.POSITIVE_INFINITY) return true
    if (PackRanges.includes(this.#needs, packs) || PackRanges.includes(this.#dependencies, packs)) return true
    if (this.#sumsLeft-- <= 0) return false
    const needs = [this.#needs, this.#dependencies].reduce(PackRanges.union, packs)
    return (
      this.#index.contentBytesOf(Pack.neededBy(this.#index.packs + 1, needs, this.#index.chain)) <= this.#maxNeededBytes
    )
  }

  #requirePacks(packs: PackRanges.PackRanges): void {
    if (this.#depth === 0) this.#needs = PackRanges.union(this.#needs, packs)
    else this.#dependencies = PackRanges.union(this.#dependencies, packs)
  }

  /** The number of a value; a new one if the value is not in the index. */
  #pieceFor(candidate: PieceCandidate): PieceNumber {
    if (this.#deferHashes) {
      const piece = this.#put(candidate, undefined)
      this.#unhashed.push({ candidate, piece })
      return piece
    }
    const piece = this.#findOrPut(candidate)
    if (candidate.kind === "history") this.#elementPieces.set(candidate, piece)
    return piece
  }

  #findOrPut(candidate: PieceCandidate): PieceNumber {
    const sha256 = hash("sha256", this.#valueAt(candidate), "buffer")
    const key = keyOf(sha256)
    const own = this.#numbers.get(key)
    const indexed = own === undefined ? this.#index.numberOf(key) : undefined
    const packs = indexed === undefined ? PackRanges.none : this.#index.packsOf(indexed)!
    const existing = own ?? (this.mayNeed(packs) ? indexed : undefined)
    if (existing === undefined) return this.#putAs(key, candidate, sha256)
    this.#requirePacks(packs)
    if (existing > 0 || candidate.kind !== "history") return existing
    const piece = this.#putInHistory(existing, packs)
    this.#numbers.set(key, piece)
    return piece
  }

  #putAs(key: string, candidate: PieceCandidate, sha256: Buffer): PieceNumber {
    const piece = this.#put(candidate, sha256)
    this.#numbers.set(key, piece)
    return piece
  }

  /** Gives a part a number in the history too, so that runs can include it. */
  #putInHistory(part: PieceNumber, packs: PackRanges.PackRanges): PieceNumber {
    this.#dependencies = PackRanges.union(this.#dependencies, packs)
    const writer = new TemplateWriter(this.#scratch.history)
    writer.part(-part)
    writer.end()
    return this.#nextNumber("history")
  }

  /** Writes a new piece. `sha256` is undefined while hashes are deferred. */
  #put(candidate: PieceCandidate, sha256: Buffer | undefined): PieceNumber {
    const { end, kind, start } = candidate
    // With an empty index, small parts cannot match anything. Shared pieces can: other sessions may have stored them.
    const inner = this.#deferHashes ? candidate.inner.filter(mayContainShared) : candidate.inner
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
      // Written to a buffer of its own first, because the pieces within it are appended to `out` before it.
      const template = (this.#scratch.templates[this.#depth] ??= new ByteWriter())
      template.clear()
      this.#depth++
      this.#writeTemplate({ start, end, candidates: inner }, template)
      this.#depth--
      out.bytes(template.view())
    }
    return this.#nextNumber(kind)
  }

  #nextNumber(kind: PieceCandidate["kind"]): PieceNumber {
    return kind === "history" ? this.#before.history + ++this.#history : -(this.#before.parts + ++this.#parts)
  }

  /** The prefix that the next call of this conversation will most likely have, if it is longer than the known one. */
  #nextPrefix({ elements, known, start }: Conversation, own: PackRanges.PackRanges): KnownPrefix | undefined {
    const text = this.#text
    const stable = elements.slice(0, -PiecePolicy.unstableElements)
    const last = stable.at(-1)
    // A prefix consists of pieces only, from the first element on.
    if (last === undefined || this.#deferHashes || (known === undefined && stable[0]!.start !== start)) return undefined
    const separator = separatorOf(text, known, stable)
    if (separator === undefined) return undefined

    const runs: Array<Run> = [...(known?.prefix.runs ?? [])]
    let packs = known?.prefix.packs ?? PackRanges.none
    for (const candidate of stable) {
      const piece = this.#elementPieces.get(candidate)!
      // Runs consist of pieces of the history.
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

  /** The numbers of the pieces whose hashes were deferred. */
  #hashAll(): ReadonlyMap<string, PieceNumber> {
    const numbers = new Map<string, PieceNumber>()
    for (const { candidate, piece } of this.#unhashed) {
      const key = keyOf(hash("sha256", this.#valueAt(candidate), "buffer"))
      if (!numbers.has(key) || piece > 0) numbers.set(key, piece)
    }
    return numbers
  }
}

const mayContainShared = ({ end, inner, kind, start }: PieceCandidate): boolean =>
  kind === "setting" || end - start >= PiecePolicy.minSharedBytes || inner.some(mayContainShared)

/** The text between the elements, if there are at least two and it is the same between all of them. */
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
