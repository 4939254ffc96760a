/**
 * Opens the JSON text of an event in one scan: finds its payload and the pieces in it, and returns the rest, which is all that
 * needs to be parsed. The names of the fields are those of Create Event in the contract.
 */
import * as PieceScanner from "../payload/scan/PieceScanner.ts"
import * as Scan from "../payload/scan/Scan.ts"

export interface OpenEvent {
  readonly payload: PieceScanner.ScannedPayload
  /**
   * The event with `0` in place of elements that are known. It is valid JSON exactly when the event is: the known elements
   * are values, and stand where a value may stand.
   */
  readonly reduced: string
}

// Fatal: bytes that are not UTF-8 are refused, not replaced.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * Undefined if the text is not obviously an event; then the caller parses all of it to say what is wrong. The last of several
 * equal keys counts, at both levels, as it does for `JSON.parse`.
 *
 * `knownPrefixesOf` returns how the conversations of a session are known to begin.
 */
export const open = (
  text: Buffer,
  knownPrefixesOf: (session: string) => PieceScanner.KnownPrefixes
): OpenEvent | undefined => {
  try {
    return new Opener(text, knownPrefixesOf).open()
  } catch {
    // Not JSON, or not UTF-8.
    return undefined
  }
}

class Opener {
  readonly #text: Buffer
  readonly #knownPrefixesOf: (session: string) => PieceScanner.KnownPrefixes
  #knownPrefixes = PieceScanner.noKnownPrefixes
  #inputs: (PieceScanner.ScannedValue & { readonly knownPrefixes: PieceScanner.KnownPrefixes }) | undefined
  #output: PieceScanner.ScannedValue | undefined

  constructor(text: Buffer, knownPrefixesOf: (session: string) => PieceScanner.KnownPrefixes) {
    this.#text = text
    this.#knownPrefixesOf = knownPrefixesOf
  }

  open(): OpenEvent | undefined {
    const text = this.#text
    const start = Scan.skipSpace(text, 0)
    if (text[start] !== Scan.openBrace) return undefined
    Scan.scanMembers(text, start, (keyStart, keyEnd, value) => this.#member(Scan.keyAt(text, keyStart, keyEnd), value))
    const output = this.#output
    if (this.#inputs === undefined || output === undefined) return undefined
    // The session may come after the payload, or twice.
    const inputs =
      this.#inputs.knownPrefixes === this.#knownPrefixes
        ? this.#inputs
        : PieceScanner.ofInputs(text, this.#inputs.start, this.#knownPrefixes.list)
    return { payload: { text, inputs, output, knownPrefixes: this.#knownPrefixes }, reduced: reduce(text, inputs) }
  }

  #member(key: string, at: number): number {
    const text = this.#text
    if (key === "session" && text[at] === Scan.quote) {
      const end = Scan.skipString(text, at)
      this.#knownPrefixes = this.#knownPrefixesOf(JSON.parse(text.toString("utf8", at, end)) as string)
      return end
    }
    if (key !== "properties" || text[at] !== Scan.openBrace) return Scan.skipValue(text, at)
    this.#inputs = undefined
    this.#output = undefined
    return Scan.scanMembers(text, at, (keyStart, keyEnd, value) =>
      this.#property(Scan.keyAt(text, keyStart, keyEnd), value)
    )
  }

  #property(key: string, at: number): number {
    if (key === "inputs") {
      const knownPrefixes = this.#knownPrefixes
      this.#inputs = { ...PieceScanner.ofInputs(this.#text, at, knownPrefixes.list), knownPrefixes }
      return this.#inputs.end
    }
    if (key === "output") {
      this.#output = PieceScanner.ofOutput(this.#text, at)
      return this.#output.end
    }
    return Scan.skipValue(this.#text, at)
  }
}

const reduce = (text: Buffer, { candidates }: PieceScanner.ScannedValue): string => {
  let reduced = ""
  let at = 0
  for (const candidate of candidates) {
    if (candidate.kind !== "known-prefix") continue
    reduced += `${utf8.decode(text.subarray(at, candidate.start))}0`
    at = candidate.end
  }
  return reduced + utf8.decode(text.subarray(at))
}
