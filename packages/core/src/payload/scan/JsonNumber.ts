/** Numbers in a JSON text, byte by byte: a number may be cut anywhere between two steps of a walk. */

/** What a number consists of so far. */
const notANumber = 0
const minus = 1
const zero = 2
const digits = 3
const point = 4
const fraction = 5
const exponentMark = 6
const exponentSign = 7
const exponent = 8

const isNumber = (state: number): boolean =>
  state === zero || state === digits || state === fraction || state === exponent

const afterFirst = (code: number): number => {
  if (code === 0x2d) return minus
  return afterNext(minus, code)
}

const afterNext = (state: number, code: number): number => {
  if (code >= 0x30 && code <= 0x39) {
    if (state === digits || state === fraction || state === exponent) return state
    if (state === minus) return code === 0x30 ? zero : digits
    if (state === zero) return notANumber
    return state === point ? fraction : exponent
  }
  if (code === 0x2e) return state === zero || state === digits ? point : notANumber
  if (code === 0x65 || code === 0x45) {
    return state === zero || state === digits || state === fraction ? exponentMark : notANumber
  }
  return state === exponentMark && (code === 0x2b || code === 0x2d) ? exponentSign : notANumber
}

/** Reads a number. The loop is beside its constants: with those of another module it takes a quarter longer. */
export class JsonNumber {
  #state = notANumber

  /** Whether a number can begin with this byte. */
  begin(code: number): boolean {
    this.#state = afterFirst(code)
    return this.#state !== notANumber
  }

  /** The offset of the first byte, from `at` up to `limit`, that does not continue the number. */
  skip(text: Buffer, at: number, limit: number): number {
    let state = this.#state
    for (; at < limit; at++) {
      const next = afterNext(state, text[at]!)
      if (next === notANumber) break
      state = next
    }
    this.#state = state
    return at
  }

  /** Whether the number may end here. */
  get isComplete(): boolean {
    return isNumber(this.#state)
  }
}
