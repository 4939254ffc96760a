/** Leaves the credentials of a request to a provider out of what is recorded of it. */
import type { Steps } from "@tachograph/core"
import * as Credentials from "@tachograph/formats/Credentials"
import * as Masking from "./Masking.ts"
import { ManyTexts } from "./ManyTexts.ts"
import type { PassedCall } from "./PassedCall.ts"

/** In headers a character is a byte, and in what a query is decoded to it is not. What is no UTF-8 is U+FFFD in the event. */
const bytesOf = (text: string): ReadonlyArray<Buffer> => {
  const bytes = Buffer.from(text, "latin1")
  return /^[\0-\x7f]*$/.test(text) ? [bytes] : [Buffer.from(bytes.toString()), Buffer.from(text)]
}

interface Secret {
  readonly isCredential: boolean
  /** Counts for a value that only may be a credential: then it is part of the payload. */
  isInInputs: boolean
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

export class Secrets {
  readonly #texts: ManyTexts<ReadonlyArray<Secret>>
  /** The beginnings of credentials, each with the whole as it is written. */
  readonly #beginnings: ManyTexts<Buffer>

  private constructor(texts: ManyTexts<ReadonlyArray<Secret>>, beginnings: ManyTexts<Buffer>) {
    this.#texts = texts
    this.#beginnings = beginnings
  }

  /** To be looked for in these texts, which are UTF-8. Undefined if there are too many. */
  static *make(
    { credentials, suspects }: Pick<PassedCall, "credentials" | "suspects">,
    texts: ReadonlyArray<Buffer>
  ): Steps.Steps<Secrets | undefined> {
    const withEscapes = texts.some(Credentials.hasEscapes)
    const values = [credentials, suspects].flat()
    if (values.reduce((sum, { length }) => sum + length, 0) > Credentials.maxCredentialCharacters) return undefined
    const written = new Map<string, Array<Secret>>()
    for (const [at, value] of values.entries()) {
      const secret = { isCredential: at < credentials.length, isInInputs: false }
      for (const text of Credentials.inJson(value, withEscapes)) {
        const same = written.get(text)
        if (same === undefined) written.set(text, [secret])
        else same.push(secret)
      }
      yield
    }
    const cut = new Set(credentials.flatMap(Credentials.inCutJson))
    return new Secrets(
      new ManyTexts([...written].flatMap(([text, secrets]) => bytesOf(text).map((bytes) => [bytes, secrets]))),
      new ManyTexts([...cut].flatMap(bytesOf).map((bytes) => [bytes.subarray(0, Credentials.shortestCut), bytes]))
    )
  }

  /**
   * The JSON text of the request without credentials; undefined if it would take too long. To be called first: what it has of other
   * values is payload, and stays in the answer as well.
   */
  *withoutInInputs(text: Buffer): Steps.Steps<Buffer | undefined> {
    return yield* this.#without(text, (secret) => {
      secret.isInInputs = true
      return secret.isCredential
    })
  }

  /** The JSON text of the answer without credentials, and without what can only be the echo of one; undefined as above. */
  *withoutInOutput(text: Buffer): Steps.Steps<Buffer | undefined> {
    const left = yield* this.#without(text, ({ isCredential, isInInputs }) => isCredential || !isInInputs)
    return left && (yield* this.#withoutCuts(left))
  }

  /** Without the beginning of a credential where a text ends with it, as one does that broke off; undefined as above. */
  *#withoutCuts(text: Buffer): Steps.Steps<Buffer | undefined> {
    const parts = new Parts()
    const escapes = escapesIn(text)
    let quoteAt = -1
    const isWhole = yield* this.#beginnings.find(text, (written, from, to) => {
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
    const isWhole = yield* this.#texts.find(text, (secrets, from, to) => {
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
