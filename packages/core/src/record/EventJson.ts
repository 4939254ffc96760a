/**
 * Opens the JSON text of an event in one scan: finds its payload and the pieces in it, and returns the rest, which is all that
 * needs to be parsed. The names of the fields are those of Create Event in the contract.
 */
import { isUtf8 } from "node:buffer"
import * as PieceScanner from "../payload/scan/PieceScanner.ts"
import * as JsonValue from "../payload/scan/JsonValue.ts"
import { BothVisitors } from "../payload/scan/BothVisitors.ts"
import { check, JsonWalk, skip, type Visitor } from "../payload/scan/JsonWalk.ts"
import * as Scan from "../payload/scan/Scan.ts"
import * as Steps from "../payload/scan/Steps.ts"

export interface OpenEvent {
  readonly payload: PieceScanner.ScannedPayload
  /**
   * The event with `0` in place of elements that are known. It is valid JSON exactly when the event is: the known elements
   * are values, and stand where a value may stand.
   */
  readonly reduced: Buffer
  /** Whether what is beside the payload is nested too deeply. */
  readonly isTooDeep: boolean
  /** The fields of the event, and of its properties, that are unknown: in their order, each once. */
  readonly ignored: ReadonlyArray<Scan.Path>
  /** Where the value of `metadata` is. */
  readonly metadata: Scan.Span | undefined
}

type KnownPrefixesOf = (session: string) => PieceScanner.KnownPrefixes

/**
 * Undefined if the text is not obviously an event; then the caller parses all of it to say what is wrong. The last of several
 * equal keys counts, at both levels, as it does for `JSON.parse`.
 *
 * `knownPrefixesOf` returns how the conversations of a session are known to begin. `fields` has those that an event may have; without it
 * none is unknown.
 */
export const open = (
  text: Buffer,
  knownPrefixesOf: KnownPrefixesOf,
  fields?: JsonValue.Fields
): OpenEvent | undefined => {
  const opener = new Opener(text, knownPrefixesOf, fields)
  try {
    new JsonWalk(text, 0, opener, false).step(text.length)
    const opened = Steps.run(opener.opened())
    return opened && { ...opened, reduced: reduce(text, opened.payload.inputs) }
  } catch {
    // Not JSON.
    return undefined
  }
}

export interface ParsedEvent extends Omit<OpenEvent, "reduced"> {
  /** The event; if its text is long, with no other fields than those that are needed. */
  readonly value: unknown
}

/** Opens and parses an event: a short one at once, a long one in steps. Undefined as in `open`, or if the text is not JSON. */
export function* parse(
  text: Buffer,
  knownPrefixesOf: KnownPrefixesOf,
  fields: JsonValue.Fields
): Steps.Steps<ParsedEvent | undefined> {
  if (text.length >= Steps.longFromBytes) return yield* parseLong(text, knownPrefixesOf, fields)
  const event = open(text, knownPrefixesOf, fields)
  if (event === undefined) return undefined
  const parsed = JsonValue.parse(event.reduced)
  if (!("value" in parsed)) return undefined
  const { reduced: _, ...opened } = event
  return { ...opened, value: parsed.value }
}

/** The same in steps, whatever its length. */
export function* parseLong(
  text: Buffer,
  knownPrefixesOf: KnownPrefixesOf,
  fields: JsonValue.Fields
): Steps.Steps<ParsedEvent | undefined> {
  const opener = new Opener(text, knownPrefixesOf, fields)
  const reader = new JsonValue.FieldReader(text, fields)
  if ((yield* check(text, new BothVisitors(opener, reader))) !== undefined) return undefined
  const opened = yield* opener.opened()
  if (opened === undefined || !unknownParts(text, opened.payload.inputs).every(isUtf8)) return undefined
  return { ...opened, value: reader.value }
}

/** Where a value is: the event itself, a field of it, or a field of its properties. */
const ofEvent = 0
const inEvent = 1
const inProperties = 2

/** Unknown fields that are named at most: a body can contain millions. */
const maxIgnored = 1_000

/** Visits an event: scans its inputs and its output, and looks how deep its other fields are nested. */
class Opener implements Visitor {
  readonly #text: Buffer
  readonly #knownPrefixesOf: KnownPrefixesOf
  #knownPrefixes = PieceScanner.noKnownPrefixes
  /** What was known when the inputs were scanned. */
  #knownOfInputs = PieceScanner.noKnownPrefixes
  #inputs: PieceScanner.ScannedValue | undefined
  #output: PieceScanner.ScannedValue | undefined
  #isTooDeep = false
  /** The fields that are known at each level. */
  readonly #fields: ReadonlyArray<JsonValue.Fields | undefined>
  /** By level and name: a body may repeat one a million times. */
  readonly #ignored = new Map<string, Scan.Path>()
  #metadata: Scan.Span | undefined
  #level = ofEvent
  /** Visits the inputs or the output, and how many values in them have begun and not ended. */
  #scanner: PieceScanner.PieceScanner | undefined
  #unended = 0
  /** The field that began last, if it is skipped. */
  #skipped: string | undefined
  #start = 0
  #isInputs = false

  constructor(text: Buffer, knownPrefixesOf: KnownPrefixesOf, fields: JsonValue.Fields | undefined) {
    this.#text = text
    this.#knownPrefixesOf = knownPrefixesOf
    this.#fields = [undefined, fields, fields?.members.get("properties")]
  }

  /** To be called after the walk. */
  *opened(): Steps.Steps<Omit<OpenEvent, "reduced"> | undefined> {
    const text = this.#text
    const output = this.#output
    let inputs = this.#inputs
    if (inputs === undefined || output === undefined) return undefined
    const knownPrefixes = this.#knownPrefixes
    // The session may come after the payload, or twice.
    if (this.#knownOfInputs !== knownPrefixes) {
      const scanner = PieceScanner.scannerOfInputs(text, knownPrefixes.list)
      inputs = yield* PieceScanner.scan(text, inputs.start, scanner)
    }
    const payload = { text, inputs, output, knownPrefixes }
    return {
      payload,
      isTooDeep: this.#isTooDeep,
      ignored: Array.from(this.#ignored.values()),
      metadata: this.#metadata
    }
  }

  begin(start: number, keyStart: number, keyEnd: number): number {
    if (this.#scanner !== undefined) {
      this.#unended++
      return this.#scanner.begin(start, keyStart, keyEnd)
    }
    if (this.#level === ofEvent && this.#text[start] === Scan.openBrace) {
      this.#level = inEvent
      return start + 1
    }
    const key = this.#level === ofEvent ? "" : Scan.keyAt(this.#text, keyStart, keyEnd)
    if (this.#level === inEvent && key === "properties" && this.#text[start] === Scan.openBrace) {
      this.#level = inProperties
      this.#inputs = undefined
      this.#output = undefined
      return start + 1
    }
    if (this.#level === inProperties && (key === "inputs" || key === "output")) {
      this.#isInputs = key === "inputs"
      if (this.#isInputs) this.#knownOfInputs = this.#knownPrefixes
      this.#scanner = this.#isInputs
        ? PieceScanner.scannerOfInputs(this.#text, this.#knownPrefixes.list)
        : PieceScanner.scannerOfOutput(this.#text)
      return this.begin(start, keyStart, keyEnd)
    }
    if (this.#fields[this.#level]?.members.has(key) === false) this.#ignore(key)
    this.#skipped = key
    this.#start = start
    return skip
  }

  end(end: number): void {
    if (this.#scanner !== undefined) {
      this.#scanner.end(end)
      if (--this.#unended === 0) this.#endPayload(this.#scanner.scanned)
    } else if (this.#skipped !== undefined) {
      this.#endField(this.#skipped, end)
      this.#skipped = undefined
    } else {
      this.#level--
    }
  }

  #ignore(key: string): void {
    const named = `${this.#level} ${key}`
    if (this.#ignored.size >= maxIgnored || this.#ignored.has(named)) return
    this.#ignored.set(named, this.#level === inEvent ? [key] : ["properties", key])
  }

  #endPayload(scanned: PieceScanner.ScannedValue): void {
    this.#scanner = undefined
    if (this.#isInputs) this.#inputs = scanned
    else this.#output = scanned
  }

  #endField(key: string, end: number): void {
    const text = this.#text
    const start = this.#start
    if (this.#level === inEvent && key === "session" && text[start] === Scan.quote) {
      this.#knownPrefixes = this.#knownPrefixesOf(JSON.parse(text.toString("utf8", start, end)) as string)
    }
    if (this.#level === inEvent && key === "metadata") this.#metadata = { start, end }
    const maxDepth = Scan.maxBodyDepth - this.#level
    if (end - start > maxDepth && Scan.isDeeperThan(text.subarray(start, end), maxDepth)) this.#isTooDeep = true
  }
}

/** The text without the elements that are known, which are UTF-8. */
const unknownParts = (text: Buffer, { candidates }: PieceScanner.ScannedValue): ReadonlyArray<Buffer> => {
  const parts: Array<Buffer> = []
  let at = 0
  for (const candidate of candidates) {
    if (candidate.kind !== "known-prefix") continue
    parts.push(text.subarray(at, candidate.start))
    at = candidate.end
  }
  parts.push(at === 0 ? text : text.subarray(at))
  return parts
}

const zero = Buffer.from("0")

const reduce = (text: Buffer, inputs: PieceScanner.ScannedValue): Buffer => {
  const parts = unknownParts(text, inputs)
  return parts.length === 1
    ? text
    : Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [zero, part])))
}
