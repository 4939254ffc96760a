/**
 * Finds the values of a payload that may become pieces, in one scan. The known prefix of a conversation, recognised by a
 * hash over its bytes, is not scanned again.
 */
import { createHash, type Hash } from "node:crypto"
import type { PackRanges } from "../format/PackRanges.ts"
import * as PiecePolicy from "./PiecePolicy.ts"
import { skip, type Visitor, walk } from "./JsonWalk.ts"
import { closeBracket, comma, keyAt, openBrace, openBracket, quote, type Span, skipSpace } from "./Scan.ts"
import * as Steps from "./Steps.ts"
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
export const ofInputs = (text: Buffer, at: number, knownPrefixes: ReadonlyArray<KnownPrefix>): ScannedValue =>
  Steps.run(scan(text, at, scannerOfInputs(text, knownPrefixes)))

/** Scans the output of a call, which contains no history. */
export const ofOutput = (text: Buffer, at: number): ScannedValue => Steps.run(scan(text, at, scannerOfOutput(text)))

/** Scans the value that starts at `at`. */
export function* scan(text: Buffer, at: number, scanner: PieceScanner): Steps.Steps<ScannedValue> {
  yield* walk(text, at, scanner)
  return scanner.scanned
}

/** A visitor of the inputs of a call. */
export const scannerOfInputs = (text: Buffer, knownPrefixes: ReadonlyArray<KnownPrefix>): PieceScanner =>
  new PieceScanner(text, knownPrefixes, inInputs)

/** A visitor of the output of a call. */
export const scannerOfOutput = (text: Buffer): PieceScanner => new PieceScanner(text, [], inObject)

/** What an object or array is to the scan, which says what its members or elements may become. */
const inInputs = 0
const inConversation = 1
const inObject = 2
const inArray = 3

/** For a value that becomes no candidate, whatever its size. */
const never = Number.POSITIVE_INFINITY

/** An object or array that the scan has entered. */
class Frame {
  readonly within: number
  readonly depth: number
  readonly start: number
  /** The candidate that it becomes, if it has this size. */
  readonly kind: PieceCandidate["kind"]
  readonly minBytes: number
  /** Minimum size of strings in it, in bytes. */
  readonly minStringBytes: number
  /** The frame that collects the candidates in it: itself, or one around it. */
  readonly collector: Frame
  collected: Array<PieceCandidate | KnownPrefixCandidate> | undefined
  /** How many of these are within each other. */
  levels = 0

  constructor(
    within: number,
    start: number,
    depth: number,
    kind: PieceCandidate["kind"],
    minBytes: number,
    minStringBytes: number,
    collector?: Frame
  ) {
    this.within = within
    this.start = start
    this.depth = depth
    this.kind = kind
    this.minBytes = minBytes
    this.minStringBytes = minStringBytes
    this.collector = collector ?? this
    this.collected = undefined
  }
}

/** Finds the candidates of one value. */
export class PieceScanner implements Visitor {
  readonly #candidates: Array<PieceCandidate | KnownPrefixCandidate> = []
  readonly #conversations: Array<Conversation> = []
  readonly #text: Buffer
  readonly #knownPrefixes: ReadonlyArray<KnownPrefix>
  #candidatesLeft = PiecePolicy.maxCandidates
  /** Limits the number of hashes, because a hostile text can contain the ending of a prefix at many positions. */
  #hashesLeft = 2 * PiecePolicy.maxKnownPrefixes
  /** Whether the scan is within an instruction message, whose strings are settings. */
  #inInstruction = false
  /** Where the first element of the conversation that is being scanned begins. */
  #firstElement = 0
  #known: KnownPrefixCandidate | undefined
  readonly #frames: Array<Frame> = []
  #top: Frame
  #start = -1
  #end = 0
  /** The value that began last, if it is skipped. */
  #isSkipped = false
  #leafStart = 0
  #leafKind: PieceCandidate["kind"] = "part"
  #leafMinBytes = never

  constructor(text: Buffer, knownPrefixes: ReadonlyArray<KnownPrefix>, within: number) {
    this.#text = text
    this.#knownPrefixes = knownPrefixes
    this.#top = new Frame(within, 0, -1, "part", never, PiecePolicy.minPartBytes)
    this.#top.collected = this.#candidates
  }

  /** The value that was visited. */
  get scanned(): ScannedValue {
    return { start: this.#start, end: this.#end, candidates: this.#candidates, conversations: this.#conversations }
  }

  begin(start: number, keyStart: number, keyEnd: number): number {
    if (this.#start === -1) this.#start = start
    const { depth, minStringBytes, within } = this.#top
    const text = this.#text
    const first = text[start]
    switch (within) {
      case inInputs: {
        const isSetting = depth >= 0 && PiecePolicy.settings.has(keyAt(text, keyStart, keyEnd))
        if (isSetting || first === quote) return this.#skip(start, "setting", PiecePolicy.minPartBytes)
        if (first === openBracket) return this.#enterConversation(start, depth + 1)
        return first === openBrace ? this.#enterWithin(inInputs, start, depth + 1) : this.#skip(start, "part", never)
      }
      case inConversation:
        this.#inInstruction = start === this.#firstElement && PiecePolicy.isInstruction(text, start)
        return this.#beginElement(start, first, 0, "history", PiecePolicy.minHistoryBytes, PiecePolicy.minPartBytes)
      case inArray:
        return this.#beginElement(
          start,
          first,
          depth + 1,
          "part",
          PiecePolicy.minPartBytes,
          PiecePolicy.minStringInPartBytes
        )
      default:
        if (first === quote) return this.#skip(start, this.#inInstruction ? "setting" : "part", minStringBytes)
        if (first === openBrace) return this.#enterWithin(inObject, start, depth + 1)
        return first === openBracket ? this.#enterWithin(inArray, start, depth + 1) : this.#skip(start, "part", never)
    }
  }

  /** Enters an object or array that becomes no candidate itself. */
  #enterWithin(within: number, start: number, depth: number): number {
    if (depth >= PiecePolicy.maxDepth) return this.#skip(start, "part", never)
    const { collector, minStringBytes } = this.#top
    return this.#enter(new Frame(within, start, depth, "part", never, minStringBytes, collector))
  }

  #beginElement(
    start: number,
    first: number | undefined,
    depth: number,
    kind: PieceCandidate["kind"],
    minBytes: number,
    minStringBytes: number
  ): number {
    const isEntered = (first === openBrace || first === openBracket) && depth < PiecePolicy.maxDepth
    if (isEntered) {
      const within = first === openBrace ? inObject : inArray
      return this.#enter(new Frame(within, start, depth, kind, minBytes, minStringBytes))
    }
    const isCandidate = first === quote || first === openBrace || first === openBracket
    return this.#skip(start, kind, isCandidate ? minBytes : never)
  }

  #enterConversation(at: number, depth: number): number {
    const start = skipSpace(this.#text, at + 1)
    this.#firstElement = start
    this.#known = this.#findKnownPrefix(start)
    this.#enter(new Frame(inConversation, start, depth, "part", never, 0))
    return this.#known?.end ?? at + 1
  }

  /** A value that is not searched for other pieces. */
  #skip(start: number, kind: PieceCandidate["kind"], minBytes: number): number {
    this.#isSkipped = true
    this.#leafStart = start
    this.#leafKind = kind
    this.#leafMinBytes = minBytes
    return skip
  }

  #enter(frame: Frame): number {
    this.#frames.push(this.#top)
    this.#top = frame
    return frame.start + 1
  }

  end(end: number): void {
    this.#end = end
    if (this.#isSkipped) {
      this.#isSkipped = false
      this.#push(this.#leafKind, this.#leafStart, end, this.#leafMinBytes, noCandidates)
      return
    }
    const ended = this.#top
    this.#top = this.#frames.pop()!
    if (ended.within === inConversation) return this.#endConversation(ended)
    if (ended.minBytes === never) return
    const inner = (ended.collected ?? noCandidates) as ReadonlyArray<PieceCandidate>
    if (ended.kind === "part" && ended.levels >= PiecePolicy.maxPartLevels) {
      for (const each of inner) this.#collect(each, ended.levels)
    } else {
      this.#push(ended.kind, ended.start, end, ended.minBytes, inner, ended.levels + 1)
    }
  }

  #endConversation({ collected, start }: Frame): void {
    const elements = (collected ?? noCandidates) as ReadonlyArray<PieceCandidate>
    const known = this.#known
    this.#inInstruction = false
    this.#known = undefined
    if (known !== undefined) this.#candidates.push(known)
    for (const element of elements) this.#candidates.push(element)
    this.#conversations.push({ start, known, elements })
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

  #push(
    kind: PieceCandidate["kind"],
    start: number,
    end: number,
    minBytes: number,
    inner: ReadonlyArray<PieceCandidate>,
    levels = 1
  ): void {
    if (end - start < minBytes || this.#candidatesLeft === 0) return
    this.#candidatesLeft--
    this.#collect({ kind, start, end, inner }, levels)
  }

  #collect(candidate: PieceCandidate, levels: number): void {
    const { collector } = this.#top
    if (collector.levels < levels) collector.levels = levels
    ;(collector.collected ??= []).push(candidate)
  }
}
