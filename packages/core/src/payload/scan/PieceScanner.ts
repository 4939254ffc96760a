/**
 * Finds the values of a payload that may become pieces, in one scan. The known prefix of a conversation, recognised by a
 * hash over its bytes, is not scanned again.
 */
import { createHash, type Hash } from "node:crypto"
import type { PackRanges } from "../format/PackRanges.ts"
import * as PiecePolicy from "./PiecePolicy.ts"
import {
  closeBracket,
  comma,
  keyAt,
  openBrace,
  openBracket,
  quote,
  type Span,
  scanElements,
  scanMembers,
  skipComma,
  skipSpace,
  skipValue
} from "./Scan.ts"
import type { Run } from "../format/Template.ts"

/** Size of `KnownPrefix.ending` in bytes. */
export const endingBytes = 32

/** The first elements of a recorded conversation, and their form in a template. Immutable. */
export interface KnownPrefix {
  /** Size from the start of the first element to the end of the last, in bytes. */
  readonly bytes: number
  readonly sha256: Buffer
  /** Its last `endingBytes` bytes. Comparing them first avoids a hash for most texts. */
  readonly ending: Buffer
  readonly runs: ReadonlyArray<Run>
  readonly separator: Buffer
  /** The packs needed to read the elements. */
  readonly packs: PackRanges
}

/**
 * A value that may become a piece: `history` is an element of a conversation, `setting` a value beside the conversation,
 * `part` any other value.
 */
export interface PieceCandidate {
  readonly kind: "history" | "part" | "setting"
  readonly start: number
  readonly end: number
  readonly inner: ReadonlyArray<PieceCandidate>
}

/** A known prefix at its position in a payload. */
export interface KnownPrefixCandidate {
  readonly kind: "known-prefix"
  readonly start: number
  readonly end: number
  readonly prefix: KnownPrefix
  /** The hash state after these bytes, to be copied. */
  readonly hash: Hash
}

/** The array of a conversation in a payload. */
export interface Conversation {
  /** The offset of its first element. */
  readonly start: number
  readonly known: KnownPrefixCandidate | undefined
  /** The elements after the known prefix, if there is one. */
  readonly elements: ReadonlyArray<PieceCandidate>
}

/** A value of a text, and the candidates in it: in the order of the text, without overlap. */
export interface ScannedValue extends Span {
  readonly candidates: ReadonlyArray<PieceCandidate | KnownPrefixCandidate>
  readonly conversations: ReadonlyArray<Conversation>
}

/** The known prefixes of a session's conversations, valid for this generation of it. */
export interface KnownPrefixes {
  readonly session: number
  readonly generation: number
  readonly list: ReadonlyArray<KnownPrefix>
}

export const noKnownPrefixes: KnownPrefixes = { session: 0, generation: 0, list: [] }

/** The inputs and the output of a model call, within one text. */
export interface ScannedPayload {
  readonly text: Buffer
  readonly inputs: ScannedValue
  readonly output: ScannedValue
  /** The known prefixes that the candidates refer to. */
  readonly knownPrefixes: KnownPrefixes
}

/** Scans two texts without known prefixes. */
export const ofTexts = (inputs: string, output: string): ScannedPayload => {
  const text = Buffer.from(`${inputs}\n${output}`)
  const scanned = ofInputs(text, skipSpace(text, 0), noKnownPrefixes.list)
  return { text, inputs: scanned, output: ofOutput(text, skipSpace(text, scanned.end)), knownPrefixes: noKnownPrefixes }
}

/** Scans a payload again without known prefixes, for when the session has changed and they are no longer valid. */
export const rescan = ({ inputs, output, text }: ScannedPayload): ScannedPayload => ({
  text,
  inputs: ofInputs(text, inputs.start, noKnownPrefixes.list),
  output,
  knownPrefixes: noKnownPrefixes
})

const noCandidates: ReadonlyArray<PieceCandidate> = []

/**
 * Scans the inputs of a call, the value that starts at `at`. Elements of the outermost arrays are the history. If the text
 * is not JSON, throws `Malformed` or returns a meaningless result.
 */
export const ofInputs = (text: Buffer, at: number, knownPrefixes: ReadonlyArray<KnownPrefix>): ScannedValue => {
  const scanner = new PieceScanner(text, knownPrefixes)
  const end = scanner.scanInputs(at, 0)
  return { start: at, end, candidates: scanner.candidates, conversations: scanner.conversations }
}

/** Scans the output of a call, which contains no history. */
export const ofOutput = (text: Buffer, at: number): ScannedValue => {
  const scanner = new PieceScanner(text, [])
  const end = scanner.scanWithin(at, PiecePolicy.minPartBytes, 0, scanner.candidates)
  return { start: at, end, candidates: scanner.candidates, conversations: [] }
}

class PieceScanner {
  readonly candidates: Array<PieceCandidate | KnownPrefixCandidate> = []
  readonly conversations: Array<Conversation> = []
  readonly #text: Buffer
  readonly #knownPrefixes: ReadonlyArray<KnownPrefix>
  #candidatesLeft = PiecePolicy.maxCandidates
  /** Limits the number of hashes, because a hostile text can contain the ending of a prefix at many positions. */
  #hashesLeft = 2 * PiecePolicy.maxKnownPrefixes
  /** Whether the scan is within an instruction message, whose strings are settings. */
  #inInstruction = false

  constructor(text: Buffer, knownPrefixes: ReadonlyArray<KnownPrefix>) {
    this.#text = text
    this.#knownPrefixes = knownPrefixes
  }

  /** Scans a value that is not in an array. Like all methods here, returns the offset after the value. */
  scanInputs(at: number, depth: number): number {
    const text = this.#text
    switch (text[at]) {
      case openBrace:
        if (depth >= PiecePolicy.maxDepth) return skipValue(text, at)
        return scanMembers(text, at, (keyStart, keyEnd, start) =>
          PiecePolicy.settings.has(keyAt(text, keyStart, keyEnd))
            ? this.#scanLeaf(start, PiecePolicy.minPartBytes, "setting", this.candidates)
            : this.scanInputs(start, depth + 1)
        )
      case openBracket:
        return this.#scanConversation(at)
      case quote:
        return this.#scanLeaf(at, PiecePolicy.minPartBytes, "setting", this.candidates)
      default:
        return skipValue(text, at)
    }
  }

  #scanConversation(at: number): number {
    const text = this.#text
    const start = skipSpace(text, at + 1)
    const known = this.#findKnownPrefix(start)
    const elements: Array<PieceCandidate> = []
    let next = known === undefined ? start : skipComma(text, known.end, closeBracket)
    while (text[next] !== closeBracket) {
      this.#inInstruction = next === start && PiecePolicy.isInstruction(text, next)
      next = skipComma(text, this.#scanElement(next, PiecePolicy.minHistoryBytes, "history", 0, elements), closeBracket)
    }
    this.#inInstruction = false
    if (known !== undefined) this.candidates.push(known)
    for (const element of elements) this.candidates.push(element)
    this.conversations.push({ start, known, elements })
    return next + 1
  }

  /** The first of the known prefixes that the elements at `start` begin with. */
  #findKnownPrefix(start: number): KnownPrefixCandidate | undefined {
    const text = this.#text
    for (const knownPrefix of this.#knownPrefixes) {
      const end = start + knownPrefix.bytes
      if (end >= text.length || this.#hashesLeft === 0) continue
      const next = text[skipSpace(text, end)]
      if (next !== comma && next !== closeBracket) continue
      if (!knownPrefix.ending.equals(text.subarray(end - knownPrefix.ending.length, end))) continue
      this.#hashesLeft--
      const hash = createHash("sha256").update(text.subarray(start, end))
      if (hash.copy().digest().equals(knownPrefix.sha256))
        return { kind: "known-prefix", start, end, prefix: knownPrefix, hash }
    }
    return undefined
  }

  #push(into: Array<PieceCandidate | KnownPrefixCandidate>, candidate: PieceCandidate, minBytes: number): void {
    if (candidate.end - candidate.start < minBytes || this.#candidatesLeft === 0) return
    this.#candidatesLeft--
    into.push(candidate)
  }

  /** A value that is not searched for other pieces. */
  #scanLeaf(
    start: number,
    minBytes: number,
    kind: PieceCandidate["kind"],
    into: Array<PieceCandidate | KnownPrefixCandidate>
  ): number {
    const end = skipValue(this.#text, start)
    this.#push(into, { kind, start, end, inner: noCandidates }, minBytes)
    return end
  }

  #scanElement(
    start: number,
    minBytes: number,
    kind: "history" | "part",
    depth: number,
    into: Array<PieceCandidate | KnownPrefixCandidate>
  ): number {
    const first = this.#text[start]
    if (first === quote) return this.#scanLeaf(start, minBytes, kind, into)
    if (first !== openBrace && first !== openBracket) return skipValue(this.#text, start)
    const inner: Array<PieceCandidate> = []
    const minStringBytes = kind === "part" ? PiecePolicy.minStringInPartBytes : PiecePolicy.minPartBytes
    const end = this.scanWithin(start, minStringBytes, depth, inner)
    this.#push(into, { kind, start, end, inner: inner.length === 0 ? noCandidates : inner }, minBytes)
    return end
  }

  /** Finds the candidates within a value: strings of at least `minStringBytes` bytes, and elements of arrays. */
  scanWithin(
    at: number,
    minStringBytes: number,
    depth: number,
    into: Array<PieceCandidate | KnownPrefixCandidate>
  ): number {
    const text = this.#text
    const first = text[at]
    if (first === quote) return this.#scanLeaf(at, minStringBytes, this.#inInstruction ? "setting" : "part", into)
    if ((first !== openBrace && first !== openBracket) || depth >= PiecePolicy.maxDepth) return skipValue(text, at)
    return first === openBrace
      ? scanMembers(text, at, (_start, _end, value) => this.scanWithin(value, minStringBytes, depth + 1, into))
      : scanElements(text, at, (start) => this.#scanElement(start, PiecePolicy.minPartBytes, "part", depth + 1, into))
  }
}
