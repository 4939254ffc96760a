/** One range of bytes of an answer (RFC 9110, section 14). */

/** The first byte, and the one after the last. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

const form = /^bytes=(\d*)-(\d*)$/

/**
 * The range that a header asks for, of a text with `length` bytes. Undefined where it asks for the whole: without the header, with
 * several ranges, or with what is no range. `unsatisfiable` where it begins after the end.
 */
export const parse = (header: string | undefined, length: number): ByteRange | "unsatisfiable" | undefined => {
  const [, first, last] = form.exec(header?.trim() ?? "") ?? []
  if (first === undefined || last === undefined || (first === "" && last === "")) return undefined
  if (first === "") {
    // The last bytes.
    const count = Number(last)
    return count === 0 || length === 0 ? "unsatisfiable" : { start: Math.max(0, length - count), end: length }
  }
  const start = Number(first)
  const end = last === "" ? length : Math.min(Number(last) + 1, length)
  if (last !== "" && Number(last) < start) return undefined
  return start >= length ? "unsatisfiable" : { start, end }
}
