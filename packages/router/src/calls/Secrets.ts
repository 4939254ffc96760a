/** Leaves the credentials of a request to a provider out of what is recorded of it. */
import { Steps } from "@tachograph/core"
import * as Credentials from "@tachograph/formats/Credentials"
import { isRemembered, remembering } from "@tachograph/formats/Remember"
import * as Masking from "./Masking.ts"
import { ManyTexts } from "./ManyTexts.ts"
import type { PassedCall } from "./PassedCall.ts"

/** In headers a character is a byte, and in what a query is decoded to it is not. What is no UTF-8 is U+FFFD in the event. */
const bytesOf = (text: string): ReadonlyArray<Buffer> => {
  const bytes = Buffer.from(text, "latin1")
  return /^[\0-\x7f]*$/.test(text) ? [bytes] : [Buffer.from(bytes.toString()), Buffer.from(text)]
}

interface Secret {
  /** Otherwise a value that only may be one: then it is part of the payload where the request's body has it. */
  readonly isCredential: boolean
}

const quote = 0x22
const backslash = 0x5c

const escapesIn = (text: Buffer) => new Credentials.Escapes((at) => text[at] === backslash)

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
  readonly beginnings: ManyTexts<Buffer>
}

type Values = Pick<PassedCall, "credentials" | "suspects">

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

  private constructor(search: Search) {
    this.#search = search
  }

  /** To be looked for in these texts, which are UTF-8. Undefined if there are too many. */
  static *make({ credentials, suspects }: Values, texts: ReadonlyArray<Buffer>): Steps.Steps<Secrets | undefined> {
    const values = { credentials, suspects }
    const length = [credentials, suspects].flat().reduce((sum, { length }) => sum + length, 0)
    if (length > Credentials.maxCredentialCharacters) return undefined
    const withEscapes = texts.some(Credentials.hasEscapes)
    const said = JSON.stringify([values, withEscapes])
    return new Secrets(isRemembered(said) ? rememberedSearch(said) : yield* searchFor(values, withEscapes))
  }

  /**
   * The JSON text of the request without credentials; undefined if it would take too long. To be called first: what it has of other
   * values is payload, and stays in the answer as well.
   */
  *withoutInInputs(text: Buffer): Steps.Steps<Buffer | undefined> {
    return yield* this.#without(text, (secret) => {
      if (!secret.isCredential) this.#inInputs.add(secret)
      return secret.isCredential
    })
  }

  /** The JSON text of the answer without credentials, and without what can only be the echo of one; undefined as above. */
  *withoutInOutput(text: Buffer): Steps.Steps<Buffer | undefined> {
    const left = yield* this.#without(text, (secret) => secret.isCredential || !this.#inInputs.has(secret))
    return left && (yield* this.#withoutCuts(left))
  }

  /** Without the beginning of a credential where a text ends with it, as one does that broke off; undefined as above. */
  *#withoutCuts(text: Buffer): Steps.Steps<Buffer | undefined> {
    const parts = new Parts()
    const escapes = escapesIn(text)
    let quoteAt = -1
    const isWhole = yield* this.#search.beginnings.find(text, (written, from, to) => {
      if (escapes.isEscaped(from)) return 0
      if (quoteAt !== Infinity && quoteAt < to) quoteAt = text.indexOf(quote, to)
      if (quoteAt === -1) quoteAt = Infinity
      const length = quoteAt - from
      if (length >= written.length) return 0
      if (written.compare(text, from, quoteAt, 0, length) === 0) parts.add(from, quoteAt)
      return length
    })
    return yield* withoutParts(text, isWhole, parts)
  }

  *#without(text: Buffer, isMasked: (secret: Secret) => boolean): Steps.Steps<Buffer | undefined> {
    const parts = new Parts()
    const escapes = escapesIn(text)
    const isWhole = yield* this.#search.texts.find(text, (secrets, from, to) => {
      if (escapes.isEscaped(from)) return 0
      // All of them are to be asked.
      if (secrets.filter(isMasked).length > 0) parts.add(from, to)
      return 0
    })
    return yield* withoutParts(text, isWhole, parts)
  }
}

function* withoutParts(text: Buffer, isWhole: boolean, { bounds }: Parts): Steps.Steps<Buffer | undefined> {
  if (!isWhole) return undefined
  return bounds.length === 0 ? text : yield* Masking.masked(text, bounds)
}
