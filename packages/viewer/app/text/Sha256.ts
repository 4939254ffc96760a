/** SHA-256 of a text (FIPS 180-4). Browsers have one of their own, but not over plain HTTP. */

/** The first 32 bits of the fractional parts of a root of the first primes. */
const fractions = (count: number, root: (prime: number) => number): Uint32Array => {
  const words: Array<number> = []
  for (let candidate = 2; words.length < count; candidate++) {
    let isPrime = true
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) isPrime = false
    if (isPrime) words.push((root(candidate) % 1) * 2 ** 32)
  }
  return Uint32Array.from(words)
}

const constants = fractions(64, Math.cbrt)
const initial = fractions(8, Math.sqrt)

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

const compress = (state: Uint32Array, block: DataView, schedule: Uint32Array): void => {
  for (let at = 0; at < 16; at++) schedule[at] = block.getUint32(4 * at)
  for (let at = 16; at < 64; at++) {
    const [early, late] = [schedule[at - 15]!, schedule[at - 2]!]
    const small = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)
    const large = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10)
    schedule[at] = schedule[at - 16]! + small + schedule[at - 7]! + large
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let at = 0; at < 64; at++) {
    const chosen = (e & f) ^ (~e & g)
    const one = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + chosen + constants[at]! + schedule[at]!
    const two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) >>> 0, c, b, a, (one + two) >>> 0]
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at]! += word
}

/** In lower-case hexadecimal. */
export const sha256 = (text: string): string => {
  const bytes = new TextEncoder().encode(text)
  const padded = new Uint8Array(64 * Math.ceil((bytes.length + 9) / 64))
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(padded.length - 4, 8 * bytes.length)
  const state = Uint32Array.from(initial)
  const schedule = new Uint32Array(64)
  for (let at = 0; at < padded.length; at += 64) compress(state, new DataView(padded.buffer, at, 64), schedule)
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("")
}
