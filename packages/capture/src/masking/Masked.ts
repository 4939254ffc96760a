/** Puts a mask in the place of parts of a JSON text, which stays JSON. */
import { mask } from "./Credentials.ts"
import * as MaskedParts from "./MaskedParts.ts"
import type { Steps } from "./Steps.ts"

const encoder = new TextEncoder()
const plain = encoder.encode(mask)

/** In the place of what has no quotes around it. */
const quoted = encoder.encode(JSON.stringify(mask))

/** How many parts are passed in a step. */
const partsInStep = 4096

export interface Masked {
  readonly text: Uint8Array
  /** How many masks were put into it. */
  readonly count: number
}

/** The text without the parts, whose bounds are in the order of the text. */
export function* withoutParts(text: Uint8Array, bounds: ReadonlyArray<number>): Steps<Masked> {
  return bounds.length === 0 ? { text, count: 0 } : yield* replaced(text, yield* MaskedParts.of(text, bounds))
}

export function* replaced(text: Uint8Array, { bounds, unquoted }: MaskedParts.Parts): Steps<Masked> {
  const count = bounds.length / 2
  let length = text.length + count * plain.length + unquoted.size * (quoted.length - plain.length)
  for (let at = 0; at < bounds.length; at += 2) length -= bounds[at + 1]! - bounds[at]!
  const result = new Uint8Array(length)
  let to = 0
  let from = 0
  const put = (bytes: Uint8Array) => {
    result.set(bytes, to)
    to += bytes.length
  }
  for (let at = 0; at < bounds.length; at += 2) {
    const begin = bounds[at]!
    put(text.subarray(from, begin))
    put(unquoted.has(begin) ? quoted : plain)
    from = bounds[at + 1]!
    if (at % (2 * partsInStep) === 0) yield
  }
  put(text.subarray(from))
  return { text: result, count }
}
