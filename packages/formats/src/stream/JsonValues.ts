/** Finds the ends of JSON values in lines of text: one value a line, values over several lines, and the items of one array. */

export interface JsonValueReader {
  /** Takes a line and returns the texts of the objects and arrays that it completes. */
  readonly take: (line: string) => ReadonlyArray<string>
  /** Returns the values that would be complete if the text ended with this part of a line. It changes nothing. */
  readonly end: (rest: string) => ReadonlyArray<string>
  /** Whether a value or an array has begun that is not complete. */
  readonly isOpen: () => boolean
  /** Gives up the value that is not complete. */
  readonly reset: () => void
}

const mark = /["[\]{}]/g

/** The index behind the string that begins at `start`. A string never spans lines, as JSON allows no raw line end in it. */
const endOfString = (line: string, start: number): number => {
  let quote = start
  for (;;) {
    quote = line.indexOf('"', quote + 1)
    if (quote === -1) return line.length
    let before = quote - 1
    while (line[before] === "\\") before -= 1
    if ((quote - before) % 2 === 1) return quote + 1
  }
}

export const make = (): JsonValueReader => {
  /** Brackets that are open. The one of the array whose items are payloads is not counted. */
  let depth = 0
  let isInArray = false
  /** The lines of the value that is open. */
  let parts: Array<string> = []

  const scan = (line: string): Array<string> => {
    const values: Array<string> = []
    let from = 0
    mark.lastIndex = 0
    for (let match = mark.exec(line); match !== null; match = mark.exec(line)) {
      const { 0: found, index } = match
      if (found === '"') mark.lastIndex = endOfString(line, index)
      else if (found === "{" || found === "[") {
        if (depth === 0 && found === "[" && !isInArray) isInArray = true
        else {
          if (depth === 0) from = index
          depth += 1
        }
      } else if (depth === 0) isInArray = false
      else {
        depth -= 1
        if (depth > 0) continue
        parts.push(line.slice(from, index + 1))
        values.push(parts.join("\n"))
        parts = []
      }
    }
    if (depth > 0) parts.push(line.slice(from))
    return values
  }

  return {
    take: scan,
    end: (rest) => {
      const before = { depth, isInArray, parts: [...parts] }
      const values = scan(rest)
      depth = before.depth
      isInArray = before.isInArray
      parts = before.parts
      return values
    },
    isOpen: () => depth > 0 || isInArray,
    reset: () => {
      depth = 0
      isInArray = false
      parts = []
    }
  }
}
