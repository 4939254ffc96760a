/** Puts a mask in the place of parts of a JSON text, which stays JSON. */
import type { Steps } from "@tachograph/core"
import * as Credentials from "@tachograph/formats/Credentials"
import * as MaskedParts from "@tachograph/formats/MaskedParts"

const mask = Buffer.from(Credentials.mask)

/** In the place of a number. */
const quotedMask = Buffer.from(JSON.stringify(Credentials.mask))

/** How many parts are passed in a step. */
const partsInStep = 4096

const quote = 0x22

/** The text without the parts, whose bounds are in the order of the text. */
export function* masked(text: Buffer, bounds: ReadonlyArray<number>): Steps.Steps<Buffer> {
  const inBytes: MaskedParts.Text = {
    length: text.length,
    at: (index) => text[index]!,
    quoteFrom: (index) => text.indexOf(quote, index),
    slice: (from, to) => text.toString("latin1", from, to)
  }
  return yield* cut(text, yield* MaskedParts.of(inBytes, bounds))
}

function* cut(text: Buffer, { bounds, numbers }: MaskedParts.Parts): Steps.Steps<Buffer> {
  let length = text.length + (bounds.length / 2) * mask.length + numbers.size * (quotedMask.length - mask.length)
  for (let at = 0; at < bounds.length; at += 2) length -= bounds[at + 1]! - bounds[at]!
  const result = Buffer.allocUnsafeSlow(length)
  let to = 0
  let from = 0
  for (let at = 0; at < bounds.length; at += 2) {
    const begin = bounds[at]!
    to += text.copy(result, to, from, begin)
    to += (numbers.has(begin) ? quotedMask : mask).copy(result, to)
    from = bounds[at + 1]!
    if (at % (2 * partsInStep) === 0) yield
  }
  text.copy(result, to, from)
  return result
}
