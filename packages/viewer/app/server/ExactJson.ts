/** Parses JSON without losing numbers that JavaScript cannot hold: 9007199254740993 and 1.0 stay what was sent. */

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

/** Throws a `SyntaxError` if it is not JSON. */
export const parse = (text: string): unknown =>
  unusual.test(text)
    ? (JSON.parse(text, exact as Parameters<typeof JSON.parse>[1]) as unknown)
    : (JSON.parse(text) as unknown)
