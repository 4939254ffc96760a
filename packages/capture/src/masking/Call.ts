/** Leaves credentials out of what is recorded of a call: the one way of the client and the proxy. */
import * as Body from "./Body.ts"
import { credentialsOf, maxCredentialCharacters } from "./Credentials.ts"
import type { Place } from "./Places.ts"
import { Secrets, type Values } from "./Secrets.ts"
import type { Steps } from "./Steps.ts"

/** Both texts of a call in UTF-8. */
interface Texts {
  readonly inputs: Uint8Array
  readonly output: Uint8Array
}

export class MaskedCall implements Texts {
  readonly inputs: Uint8Array
  readonly output: Uint8Array
  readonly #ofPlaces: number
  readonly #secrets: Secrets

  constructor({ inputs, output }: Texts, ofPlaces: number, secrets: Secrets) {
    this.inputs = inputs
    this.output = output
    this.#ofPlaces = ofPlaces
    this.#secrets = secrets
  }

  /** How many masks there are, also in what stands beside. */
  get count(): number {
    return this.#ofPlaces + this.#secrets.count
  }

  /** What stands beside the payload, such as a person who is named by their key; undefined if it would take too long. */
  *beside(text: Uint8Array): Steps<Uint8Array | undefined> {
    return yield* this.#secrets.withoutInInputs(text)
  }
}

/** Those of the call first. Of the others as many as may be looked for: at their places they are masked anyway. */
const withOthers = ({ credentials, suspects }: Values, others: ReadonlyArray<string>): Values => {
  if (others.length === 0) return { credentials, suspects }
  let left = maxCredentialCharacters
  for (const { length } of [...credentials, ...suspects]) left -= length
  const found = credentialsOf(
    others.map((value) => ["authorization", value]),
    []
  )
  const fitting = found.filter(({ length }) => (left -= length) >= 0)
  return { credentials: credentialsOf([], [], [...credentials, ...fitting]), suspects }
}

/**
 * A call without credentials: `sent` is the body of the request, and `inputsOf` makes the JSON text of it where it is none. Undefined if
 * there are too many to look for, or it would take too long. `place` says where the texts hold credentials, if they are no bodies.
 */
export function* masked(
  values: Values,
  sent: Uint8Array,
  received: Uint8Array,
  inputsOf = (body: Uint8Array): Uint8Array => body,
  place?: Place
): Steps<MaskedCall | undefined> {
  const request = yield* Body.masked(sent, place)
  const answer = yield* Body.masked(received, place)
  const texts = { inputs: inputsOf(request.text), output: answer.text }
  const all = withOthers(values, [...request.values, ...answer.values])
  const secrets = yield* Secrets.make(all, [texts.inputs, texts.output])
  const inputs = secrets && (yield* secrets.withoutInInputs(texts.inputs))
  const output = inputs && (yield* secrets!.withoutInOutput(texts.output))
  return output && new MaskedCall({ inputs: inputs!, output }, request.count + answer.count, secrets!)
}
