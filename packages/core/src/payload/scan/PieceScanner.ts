/**
 * Marks the values of a payload that are worth being pieces: one scan, in which nothing is skipped but the beginning of a
 * conversation that was seen before, which a hash over all of it recognises at once.
 */
import { createHash, type Hash } from "node:crypto"
import type { PackRanges } from "../format/PackRanges.ts"
import * as Policy from "./PiecePolicy.ts"
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
export interface Beginning {
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
export interface Mark {
  readonly kind: "history" | "part" | "setting"
  readonly start: number
  readonly end: number
  readonly inner: ReadonlyArray<Mark>
}

/** The elements with which a conversation is known to begin. */
export interface BeginningMark {
  readonly kind: "beginning"
  readonly start: number
  readonly end: number
  readonly beginning: Beginning
  /** Of exactly these bytes; may be copied. */
  readonly hash: Hash
}

/** The array of a conversation in a payload. */
export interface Conversation {
  /** Where its first element starts. */
  readonly start: number
  readonly known: BeginningMark | undefined
  /** Behind the beginning, where one is known. */
  readonly elements: ReadonlyArray<Mark>
}

/** A value of a text, and what is marked in it, in the order of the text; marks do not overlap. */
export interface MarkedValue extends Span {
  readonly marks: ReadonlyArray<Mark | BeginningMark>
  readonly conversations: ReadonlyArray<Conversation>
}

/** How the conversations of a session are known to begin, and the session as it was when that was so. */
export interface Beginnings {
  readonly session: number
  readonly generation: number
  readonly list: ReadonlyArray<Beginning>
}

export const noBeginnings: Beginnings = { session: 0, generation: 0, list: [] }

/** The two halves of a model call where they stand in one text. */
export interface MarkedPayload {
  readonly text: Buffer
  readonly inputs: MarkedValue
  readonly output: MarkedValue
  /** What the beginnings among the marks are known from. */
  readonly beginnings: Beginnings
}

/** Marks two texts, of which nothing is known. */
export const ofTexts = (inputs: string, output: string): MarkedPayload => {
  const text = Buffer.from(`${inputs}\n${output}`)
  const marked = ofInputs(text, skipSpace(text, 0), noBeginnings.list)
  return { text, inputs: marked, output: ofOutput(text, skipSpace(text, marked.end)), beginnings: noBeginnings }
}

/** The same payload without regard to what was known. */
export const again = ({ inputs, output, text }: MarkedPayload): MarkedPayload => ({
  text,
  inputs: ofInputs(text, inputs.start, noBeginnings.list),
  output,
  beginnings: noBeginnings
})

const noMarks: ReadonlyArray<Mark> = []

/**
 * Marks the inputs of a call: the value that starts at `at`. Elements of arrays that are reached through objects alone are
 * the history. Throws `Malformed`, or answers nonsense, where the text is not JSON.
 */
export const ofInputs = (text: Buffer, at: number, beginnings: ReadonlyArray<Beginning>): MarkedValue => {
  const marker = new Marker(text, beginnings)
  const end = marker.inputs(at, 0)
  return { start: at, end, marks: marker.marks, conversations: marker.conversations }
}

/** Marks the output of a call: there is no history in it. */
export const ofOutput = (text: Buffer, at: number): MarkedValue => {
  const marker = new Marker(text, [])
  const end = marker.inside(at, Policy.partBytes, 0, marker.marks)
  return { start: at, end, marks: marker.marks, conversations: [] }
}

class Marker {
  readonly marks: Array<Mark | BeginningMark> = []
  readonly conversations: Array<Conversation> = []
  readonly #text: Buffer
  readonly #beginnings: ReadonlyArray<Beginning>
  #left = Policy.maxMarks
  /** Beginnings that may still be hashed: a text could be made in which they seem to stand everywhere. */
  #tries = 2 * Policy.maxBeginnings
  /** The element that is being marked tells the model what it is; that is a setting of the call, wherever it stands. */
  #inInstruction = false

  constructor(text: Buffer, beginnings: ReadonlyArray<Beginning>) {
    this.#text = text
    this.#beginnings = beginnings
  }

  /** A value that is reached through objects alone. Answers the place behind it, as all of these do. */
  inputs(at: number, depth: number): number {
    const text = this.#text
    switch (text[at]) {
      case openBrace:
        if (depth >= Policy.maxDepth) return skipValue(text, at)
        return scanMembers(text, at, (keyStart, keyEnd, start) =>
          Policy.settings.has(keyAt(text, keyStart, keyEnd))
            ? this.#leaf(start, Policy.partBytes, "setting", this.marks)
            : this.inputs(start, depth + 1)
        )
      case openBracket:
        return this.#conversation(at)
      case quote:
        return this.#leaf(at, Policy.partBytes, "setting", this.marks)
      default:
        return skipValue(text, at)
    }
  }

  #conversation(at: number): number {
    const text = this.#text
    const start = skipSpace(text, at + 1)
    const known = this.#recognise(start)
    const elements: Array<Mark> = []
    let next = known === undefined ? start : skipComma(text, known.end, closeBracket)
    while (text[next] !== closeBracket) {
      this.#inInstruction = next === start && Policy.isInstruction(text, next)
      next = skipComma(text, this.#element(next, Policy.historyBytes, "history", 0, elements), closeBracket)
    }
    this.#inInstruction = false
    if (known !== undefined) this.marks.push(known)
    for (const element of elements) this.marks.push(element)
    this.conversations.push({ start, known, elements })
    return next + 1
  }

  /** The first of the beginnings with which the elements at `start` begin. */
  #recognise(start: number): BeginningMark | undefined {
    const text = this.#text
    for (const beginning of this.#beginnings) {
      const end = start + beginning.bytes
      if (end >= text.length || this.#tries === 0) continue
      const next = text[skipSpace(text, end)]
      if (next !== comma && next !== closeBracket) continue
      if (!beginning.ending.equals(text.subarray(end - beginning.ending.length, end))) continue
      this.#tries--
      const hash = createHash("sha256").update(text.subarray(start, end))
      if (hash.copy().digest().equals(beginning.sha256)) return { kind: "beginning", start, end, beginning, hash }
    }
    return undefined
  }

  #push(into: Array<Mark | BeginningMark>, mark: Mark, least: number): void {
    if (mark.end - mark.start < least || this.#left === 0) return
    this.#left--
    into.push(mark)
  }

  /** A value that is not looked into. */
  #leaf(start: number, least: number, kind: Mark["kind"], into: Array<Mark | BeginningMark>): number {
    const end = skipValue(this.#text, start)
    this.#push(into, { kind, start, end, inner: noMarks }, least)
    return end
  }

  #element(
    start: number,
    least: number,
    kind: "history" | "part",
    depth: number,
    into: Array<Mark | BeginningMark>
  ): number {
    const first = this.#text[start]
    if (first === quote) return this.#leaf(start, least, kind, into)
    if (first !== openBrace && first !== openBracket) return skipValue(this.#text, start)
    const inner: Array<Mark> = []
    const stringBytes = kind === "part" ? Policy.stringInPartBytes : Policy.partBytes
    const end = this.inside(start, stringBytes, depth, inner)
    this.#push(into, { kind, start, end, inner: inner.length === 0 ? noMarks : inner }, least)
    return end
  }

  /** Marks what stands in a value: strings of `stringBytes` or more, and elements of arrays. */
  inside(at: number, stringBytes: number, depth: number, into: Array<Mark | BeginningMark>): number {
    const text = this.#text
    const first = text[at]
    if (first === quote) return this.#leaf(at, stringBytes, this.#inInstruction ? "setting" : "part", into)
    if ((first !== openBrace && first !== openBracket) || depth >= Policy.maxDepth) return skipValue(text, at)
    return first === openBrace
      ? scanMembers(text, at, (_start, _end, value) => this.inside(value, stringBytes, depth + 1, into))
      : scanElements(text, at, (start) => this.#element(start, Policy.partBytes, "part", depth + 1, into))
  }
}

/** Bytes at the end of a beginning that are compared before anything is hashed. */
export const endingBytes = 32
