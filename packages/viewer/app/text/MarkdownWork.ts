/**
 * How much work it is to read a text as Markdown, before it is read: some shapes take time with the square of their length. About a
 * million units are a millisecond.
 */

/** Characters that may begin or end something within a line. Each is compared with those that follow in its paragraph. */
const delimiter = /[*_~`[\]<!|\\@]/g

/** What a line of a quote or a list begins with. Every level is read again for each level above it. */
const nesting = /^(?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))+/

const unitsPerCharacter = 1_000
const unitsPerLine = 8_000
const unitsPerNesting = 80
const unitsPerPair = 1

/** Texts up to this much work are read at once, and up to the second when a person asks. */
export const maxWork = { atOnce: 25_000_000, asked: 100_000_000 } as const

/** Stops counting soon after it is more than `most`. */
export const workOf = (text: string, most: number): number => {
  let work = unitsPerCharacter * text.length
  let delimiters = 0
  let length = 0
  for (let from = 0; from < text.length && work <= most;) {
    const end = text.indexOf("\n", from)
    const line = text.slice(from, end === -1 ? text.length : end)
    from += line.length + 1
    work += unitsPerLine
    // What a paragraph adds to the work grows with each of its lines.
    work -= unitsPerPair * delimiters * length
    if (line.trim() === "") [delimiters, length] = [0, 0]
    delimiters += line.match(delimiter)?.length ?? 0
    length += line.length
    work += unitsPerPair * delimiters * length
    work += unitsPerNesting * (nesting.exec(line)?.[0].length ?? 0) * line.length
  }
  return work
}
