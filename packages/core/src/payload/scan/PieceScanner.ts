/**
 * Finds the values of a payload that are worth being pieces: one scan, in which nothing is skipped but the known prefix of a
 * conversation that was seen before, which a hash over all of it recognises at once.
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

/** The elements with which a conversation began, and how they are written in a template. Never changed once made. */
export interface KnownPrefix {
  /** From the first element's first byte to the last one's last. */
  readonly bytes: number
  readonly sha256: Buffer
  /** The last few of the bytes: most texts are told apart by them, without a hash. */
  readonly ending: Buffer
  readonly runs: ReadonlyArray<Run>
  readonly separator: Buffer
  /** The packs that it takes to read the elements. */
  readonly packs: PackRanges
}

/**
 * A value that may be a piece: `history` is an element of a conversation, `part` anything deeper, `setting` a value that
 * stands beside the conversation.
 */
export interface PieceCandidate {
  readonly kind: "history" | "part" | "setting"
  readonly start: number
  readonly end: number
  readonly inner: ReadonlyArray<PieceCandidate>
}

/** The elements with which a conversation is known to begin. */
export interface KnownPrefixCandidate {
  readonly kind: "known-prefix"
  readonly start: number
  readonly end: number
  readonly prefix: KnownPrefix
  /** Of exactly these bytes; may be copied. */
  readonly hash: Hash
}

/** The array of a conversation in a payload. */
export interface Conversation {
  /** Where its first element starts. */
  readonly start: number
  readonly known: KnownPrefixCandidate | undefined
  /** Behind the known prefix, where one is known. */
  readonly elements: ReadonlyArray<PieceCandidate>
}

/** A value of a text, and what is marked in it, in the order of the text; candidates do not overlap. */
export interface ScannedValue extends Span {
  readonly candidates: ReadonlyArray<PieceCandidate | KnownPrefixCandidate>
  readonly conversations: ReadonlyArray<Conversation>
}

/** How the conversations of a session are known to begin, and the session as it was when that was so. */
export interface KnownPrefixes {
  readonly session: number
  readonly generation: number
  readonly list: ReadonlyArray<KnownPrefix>
}

export const noKnownPrefixes: KnownPrefixes = { session: 0, generation: 0, list: [] }

/** The two halves of a model call where they stand in one text. */
export interface ScannedPayload {
  readonly text: Buffer
  readonly inputs: ScannedValue
  readonly output: ScannedValue
  /** What the known prefixes among the candidates are known from. */
  readonly knownPrefixes: KnownPrefixes
}

/** Scans two texts, of which nothing is known. */
export const ofTexts = (inputs: string, output: string): ScannedPayload => {
  const text = Buffer.from(`${inputs}\n${output}`)
  const marked = ofInputs(text, skipSpace(text, 0), noKnownPrefixes.list)
  return { text, inputs: marked, output: ofOutput(text, skipSpace(text, marked.end)), knownPrefixes: noKnownPrefixes }
}

/** The same payload without regard to what was known. */
export const rescan = ({ inputs, output, text }: ScannedPayload): ScannedPayload => ({
  text,
  inputs: ofInputs(text, inputs.start, noKnownPrefixes.list),
  output,
  knownPrefixes: noKnownPrefixes
})

const noCandidates: ReadonlyArray<PieceCandidate> = []

/**
 * Finds the inputs of a call: the value that starts at `at`. Elements of arrays that are reached through objects alone are
 * the history. Throws `Malformed`, or answers nonsense, where the text is not JSON.
 */
export const ofInputs = (text: Buffer, at: number, knownPrefixes: ReadonlyArray<KnownPrefix>): ScannedValue => {
  const scanner = new PieceScanner(text, knownPrefixes)
  const end = scanner.inputs(at, 0)
  return { start: at, end, candidates: scanner.candidates, conversations: scanner.conversations }
}

/** Finds the output of a call: there is no history in it. */
export const ofOutput = (text: Buffer, at: number): ScannedValue => {
  const scanner = new PieceScanner(text, [])
  const end = scanner.inside(at, PiecePolicy.partBytes, 0, scanner.candidates)
  return { start: at, end, candidates: scanner.candidates, conversations: [] }
}

class PieceScanner {
  readonly candidates: Array<PieceCandidate | KnownPrefixCandidate> = []
  readonly conversations: Array<Conversation> = []
  readonly #text: Buffer
  readonly #knownPrefixes: ReadonlyArray<KnownPrefix>
  #left = PiecePolicy.maxCandidates
  /** Beginnings that may still be hashed: a text could be made in which they seem to stand everywhere. */
  #tries = 2 * PiecePolicy.maxKnownPrefixes
  /** The element that is being marked tells the model what it is; that is a setting of the call, wherever it stands. */
  #inInstruction = false

  constructor(text: Buffer, knownPrefixes: ReadonlyArray<KnownPrefix>) {
    this.#text = text
    this.#knownPrefixes = knownPrefixes
  }

  /** A value that is reached through objects alone. Answers the place behind it, as all of these do. */
  inputs(at: number, depth: number): number {
    const text = this.#text
    switch (text[at]) {
      case openBrace:
        if (depth >= PiecePolicy.maxDepth) return skipValue(text, at)
        return scanMembers(text, at, (keyStart, keyEnd, start) =>
          PiecePolicy.settings.has(keyAt(text, keyStart, keyEnd))
            ? this.#leaf(start, PiecePolicy.partBytes, "setting", this.candidates)
            : this.inputs(start, depth + 1)
        )
      case openBracket:
        return this.#conversation(at)
      case quote:
        return this.#leaf(at, PiecePolicy.partBytes, "setting", this.candidates)
      default:
        return skipValue(text, at)
    }
  }

  #conversation(at: number): number {
    const text = this.#text
    const start = skipSpace(text, at + 1)
    const known = this.#recognise(start)
    const elements: Array<PieceCandidate> = []
    let next = known === undefined ? start : skipComma(text, known.end, closeBracket)
    while (text[next] !== closeBracket) {
      this.#inInstruction = next === start && PiecePolicy.isInstruction(text, next)
      next = skipComma(text, this.#element(next, PiecePolicy.historyBytes, "history", 0, elements), closeBracket)
    }
    this.#inInstruction = false
    if (known !== undefined) this.candidates.push(known)
    for (const element of elements) this.candidates.push(element)
    this.conversations.push({ start, known, elements })
    return next + 1
  }

  /** The first of the known prefixes with which the elements at `start` begin. */
  #recognise(start: number): KnownPrefixCandidate | undefined {
    const text = this.#text
    for (const knownPrefix of this.#knownPrefixes) {
      const end = start + knownPrefix.bytes
      if (end >= text.length || this.#tries === 0) continue
      const next = text[skipSpace(text, end)]
      if (next !== comma && next !== closeBracket) continue
      if (!knownPrefix.ending.equals(text.subarray(end - knownPrefix.ending.length, end))) continue
      this.#tries--
      const hash = createHash("sha256").update(text.subarray(start, end))
      if (hash.copy().digest().equals(knownPrefix.sha256))
        return { kind: "known-prefix", start, end, prefix: knownPrefix, hash }
    }
    return undefined
  }

  #push(into: Array<PieceCandidate | KnownPrefixCandidate>, candidate: PieceCandidate, least: number): void {
    if (candidate.end - candidate.start < least || this.#left === 0) return
    this.#left--
    into.push(candidate)
  }

  /** A value that is not looked into. */
  #leaf(
    start: number,
    least: number,
    kind: PieceCandidate["kind"],
    into: Array<PieceCandidate | KnownPrefixCandidate>
  ): number {
    const end = skipValue(this.#text, start)
    this.#push(into, { kind, start, end, inner: noCandidates }, least)
    return end
  }

  #element(
    start: number,
    least: number,
    kind: "history" | "part",
    depth: number,
    into: Array<PieceCandidate | KnownPrefixCandidate>
  ): number {
    const first = this.#text[start]
    if (first === quote) return this.#leaf(start, least, kind, into)
    if (first !== openBrace && first !== openBracket) return skipValue(this.#text, start)
    const inner: Array<PieceCandidate> = []
    const stringBytes = kind === "part" ? PiecePolicy.stringInPartBytes : PiecePolicy.partBytes
    const end = this.inside(start, stringBytes, depth, inner)
    this.#push(into, { kind, start, end, inner: inner.length === 0 ? noCandidates : inner }, least)
    return end
  }

  /** Finds what stands in a value: strings of `stringBytes` or more, and elements of arrays. */
  inside(at: number, stringBytes: number, depth: number, into: Array<PieceCandidate | KnownPrefixCandidate>): number {
    const text = this.#text
    const first = text[at]
    if (first === quote) return this.#leaf(at, stringBytes, this.#inInstruction ? "setting" : "part", into)
    if ((first !== openBrace && first !== openBracket) || depth >= PiecePolicy.maxDepth) return skipValue(text, at)
    return first === openBrace
      ? scanMembers(text, at, (_start, _end, value) => this.inside(value, stringBytes, depth + 1, into))
      : scanElements(text, at, (start) => this.#element(start, PiecePolicy.partBytes, "part", depth + 1, into))
  }
}

/** Bytes at the end of a known prefix that are compared before anything is hashed. */
export const endingBytes = 32
