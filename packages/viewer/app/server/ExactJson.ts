/**
 * Parses JSON without losing numbers that JavaScript cannot hold: 9007199254740993 and 1.0 stay what was sent. What is nested very deep
 * stays the text that it is: everything that walks a value takes a stack as deep as the value.
 */

/** A number as it is written, where its value as a JavaScript number would be written otherwise. */
export class ExactNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
  toJSON(): unknown {
    return "rawJSON" in JSON
      ? (JSON as unknown as { rawJSON: (source: string) => unknown }).rawJSON(this.source)
      : this.source
  }
}

/**
 * Numbers with more digits than a JavaScript number keeps, with zeros at their end, below a millionth, with an exponent, and -0. May
 * match within strings too: then the slower way answers the same.
 */
const unusual = /[\d.]{16}|\.\d*0\s*(?:[,\]}]|$)|\.0{6}|\d[eE][+-]?\d|-0/

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

const exact: Reviver = (_key, value, context) =>
  typeof value === "number" && context?.source !== undefined && String(value) !== context.source
    ? new ExactNumber(context.source)
    : value

/** Levels of arrays and objects that are values. */
export const maxLevels = 200

/** The index after a text that begins at `from`, where its quotation mark is. */
const afterText = (json: string, from: number): number => {
  for (let end = json.indexOf('"', from + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === "\\") backslashes++
    if (backslashes % 2 === 0) return end + 1
  }
  return json.length
}

const structure = /["[\]{}]/g

/** The same JSON, in which each array and object below the levels is a text. Throws a `SyntaxError` if one of these is not JSON. */
const shallow = (json: string): string => {
  const pieces: Array<string> = []
  let copied = 0
  let begin = 0
  let level = 0
  structure.lastIndex = 0
  for (let found = structure.exec(json); found !== null; found = structure.exec(json)) {
    const [mark] = found
    if (mark === '"') structure.lastIndex = afterText(json, found.index)
    else if (mark === "[" || mark === "{") {
      if (level++ === maxLevels) begin = found.index
    } else if (--level === maxLevels) {
      const deep = json.slice(begin, found.index + 1)
      JSON.parse(deep)
      pieces.push(json.slice(copied, begin), JSON.stringify(deep))
      copied = found.index + 1
    }
  }
  return copied === 0 ? json : pieces.join("") + json.slice(copied)
}

/** Throws a `SyntaxError` if it is not JSON. */
export const parse = (text: string): unknown => {
  const json = shallow(text)
  return unusual.test(json)
    ? (JSON.parse(json, exact as Parameters<typeof JSON.parse>[1]) as unknown)
    : (JSON.parse(json) as unknown)
}
