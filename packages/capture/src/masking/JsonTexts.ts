/** Where characters of a text are in the JSON that writes it. */

const backslash = 0x5c
const u = 0x75

/** The bytes that write the next character, and how many UTF-16 code units it has. */
const unitAt = (written: Uint8Array, at: number): readonly [bytes: number, units: number] => {
  const byte = written[at]!
  if (byte === backslash) return [written[at + 1] === u ? 6 : 2, 1]
  if (byte < 0x80) return [1, 1]
  if (byte < 0xe0) return [2, 1]
  return byte < 0xf0 ? [3, 1] : [4, 2]
}

/** The bytes of `written` that parts of its text stand in, whose bounds are in order. No half of a character is left. */
export const placesOf = (written: Uint8Array, bounds: ReadonlyArray<number>): ReadonlyArray<number> => {
  const places: Array<number> = []
  let [at, index] = [0, 0]
  for (const [n, bound] of bounds.entries()) {
    const isEnd = n % 2 === 1
    while (index < bound && at < written.length) {
      const [bytes, units] = unitAt(written, at)
      // The part begins within this character.
      if (!isEnd && index + units > bound) break
      at = Math.min(at + bytes, written.length)
      index += units
    }
    const last = places.at(-1)
    // Two parts of one character.
    if (!isEnd && last !== undefined && at < last) at = last
    places.push(at)
  }
  return places
}
