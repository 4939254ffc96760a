/** Leaves the credentials of a request to a provider out of what is recorded of it. Texts are in UTF-8. */
import * as Credentials from "./Credentials.ts"
import { ManyTexts } from "./ManyTexts.ts"
import { withoutParts } from "./Masked.ts"
import { isRemembered, remembering } from "./Memo.ts"
import * as Steps from "./Steps.ts"

const [encoder, decoder] = [new TextEncoder(), new TextDecoder("utf-8", { ignoreBOM: true })]

/** In headers a character is a byte, and in what a query is decoded to it is not. What is no UTF-8 is U+FFFD in the event. */
const bytesOf = (text: string): ReadonlyArray<Uint8Array> => {
  const bytes = encoder.encode(text)
  if (bytes.length === text.length) return [bytes]
  const asBytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
  return [encoder.encode(decoder.decode(asBytes)), bytes]
}

/** Whether a text writes some character by its number. */
const hasEscapes = (text: Uint8Array): boolean => {
  for (let at = text.indexOf(backslash); at !== -1; at = text.indexOf(backslash, at + 1)) {
    if (text[at + 1] === 0x75 && text[at + 2] === 0x30 && text[at + 3] === 0x30) return true
  }
  return false
}

interface Secret {
  /** Otherwise a value that only may be one: then it is part of the payload where the request's body has it. */
  readonly isCredential: boolean
}

const quote = 0x22
const backslash = 0x5c

const escapesIn = (text: Uint8Array) => new Credentials.Escapes((at) => text[at] === backslash)

/** Parts of a text that are masked, given in the order of their beginnings. Those that overlap are one. */
class Parts {
  /** Where each begins and ends, in turn. */
  readonly bounds: Array<number> = []

  add(from: number, to: number): void {
    const last = this.bounds.at(-1) ?? 0
    if (from >= last) this.bounds.push(from, to)
    else if (to > last) this.bounds[this.bounds.length - 1] = to
  }
}

/** What is looked for. */
interface Search {
  readonly texts: ManyTexts<ReadonlyArray<Secret>>
  /** The beginnings of credentials, each with the whole as it is written. */
  readonly beginnings: ManyTexts<Uint8Array>
}

/** What is masked, the longest first. */
export interface Values {
  readonly credentials: ReadonlyArray<string>
  /** What only may be a credential: not masked where the request's body has it. */
  readonly suspects: ReadonlyArray<string>
}

function* searchFor({ credentials, suspects }: Values, withEscapes: boolean): Steps.Steps<Search> {
  const written = new Map<string, Array<Secret>>()
  for (const [at, value] of [credentials, suspects].flat().entries()) {
    const secret = { isCredential: at < credentials.length }
    for (const text of Credentials.inJson(value, withEscapes)) {
      const same = written.get(text)
      if (same === undefined) written.set(text, [secret])
      else same.push(secret)
    }
    yield
  }
  const cut = new Set(credentials.flatMap(Credentials.inCutJson))
  return {
    texts: new ManyTexts([...written].flatMap(([text, secrets]) => bytesOf(text).map((bytes) => [bytes, secrets]))),
    beginnings: new ManyTexts(
      [...cut].flatMap(bytesOf).map((bytes) => [bytes.subarray(0, Credentials.shortestCut), bytes])
    )
  }
}

/** One call after the other has the same credentials. `said` is JSON. */
const rememberedSearch = remembering((said) => {
  const [values, withEscapes] = JSON.parse(said) as readonly [Values, boolean]
  return Steps.run(searchFor(values, withEscapes))
})

export class Secrets {
  readonly #search: Search
  /** Those that only may be credentials, and that the request's body has. */
  readonly #inInputs = new Set<Secret>()
  #count = 0

  private constructor(search: Search) {
    this.#search = search
  }

  /** How many masks were put into the texts so far. */
  get count(): number {
    return this.#count
  }

  /** To be looked for in these texts, which are UTF-8. Undefined if there are too many. */
  static *make({ credentials, suspects }: Values, texts: ReadonlyArray<Uint8Array>): Steps.Steps<Secrets | undefined> {
    const values = { credentials, suspects }
    const length = [credentials, suspects].flat().reduce((sum, { length }) => sum + length, 0)
    if (length > Credentials.maxCredentialCharacters) return undefined
    const withEscapes = texts.some(hasEscapes)
    const said = JSON.stringify([values, withEscapes])
    return new Secrets(isRemembered(said) ? rememberedSearch(said) : yield* searchFor(values, withEscapes))
  }

  /**
   * The JSON text of the request without credentials; undefined if it would take too long. To be called first: what it has of other
   * values is payload, and stays in the answer as well.
   */
  *withoutInInputs(text: Uint8Array): Steps.Steps<Uint8Array | undefined> {
    return yield* this.#without(text, (secret) => {
      if (!secret.isCredential) this.#inInputs.add(secret)
      return secret.isCredential
    })
  }

  /** The JSON text of the answer without credentials, and without what can only be the echo of one; undefined as above. */
  *withoutInOutput(text: Uint8Array): Steps.Steps<Uint8Array | undefined> {
    const left = yield* this.#without(text, (secret) => secret.isCredential || !this.#inInputs.has(secret))
    return left && (yield* this.#withoutCuts(left))
  }

  /** Without the beginning of a credential where a text ends with it, as one does that broke off; undefined as above. */
  *#withoutCuts(text: Uint8Array): Steps.Steps<Uint8Array | undefined> {
    const parts = new Parts()
    const escapes = escapesIn(text)
    let quoteAt = -1
    const isWhole = yield* this.#search.beginnings.find(text, (written, from, to) => {
      if (escapes.isEscaped(from)) return 0
      if (quoteAt !== Infinity && quoteAt < to) quoteAt = text.indexOf(quote, to)
      if (quoteAt === -1) quoteAt = Infinity
      const length = quoteAt - from
      if (length >= written.length) return 0
      if (written.subarray(0, length).every((byte, n) => byte === text[from + n])) parts.add(from, quoteAt)
      return length
    })
    return isWhole ? yield* this.#masked(text, parts) : undefined
  }

  *#without(text: Uint8Array, isMasked: (secret: Secret) => boolean): Steps.Steps<Uint8Array | undefined> {
    const parts = new Parts()
    const escapes = escapesIn(text)
    const isWhole = yield* this.#search.texts.find(text, (secrets, from, to) => {
      if (escapes.isEscaped(from)) return 0
      // All of them are to be asked.
      if (secrets.filter(isMasked).length > 0) parts.add(from, to)
      return 0
    })
    return isWhole ? yield* this.#masked(text, parts) : undefined
  }

  *#masked(text: Uint8Array, { bounds }: Parts): Steps.Steps<Uint8Array> {
    const { count, text: masked } = yield* withoutParts(text, bounds)
    this.#count += count
    return masked
  }
}
