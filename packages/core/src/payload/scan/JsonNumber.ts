/** The states of a number in a JSON text, byte by byte: a number may be cut anywhere between two steps of a walk. */

/** What a number consists of so far. */
export const notANumber = 0
const minus = 1
const zero = 2
const digits = 3
const point = 4
const fraction = 5
const exponentMark = 6
const exponentSign = 7
const exponent = 8

/** Whether a number may end in this state. */
export const isNumber = (state: number): boolean =>
  state === zero || state === digits || state === fraction || state === exponent

/** The state after the first byte of a number. */
export const afterFirst = (code: number): number => {
  if (code === 0x2d) return minus
  return afterNext(minus, code)
}

/** The state after one more byte; `notANumber` if the number cannot go on with it. */
export const afterNext = (state: number, code: number): number => {
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
