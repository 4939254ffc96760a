/** What a validation error repeats of a body: the value as it was written, its numbers to the digit. */
import { Scan } from "@tachograph/core"
import type { Echo } from "./ValidationDetail.ts"

/** Bytes of JSON without white space. What is longer is replaced by a text that says its size. */
const maxEchoBytes = 1024

/** Longer texts are not looked at closely: they would have to be nearly all white space to come under the limit. UTF-16 units. */
const maxLookLength = 64 * maxEchoBytes

/** White space between tokens; strings are matched too, so that what stands in them is left alone. */
const stringOrSpace = /("(?:[^"\\]|\\.)*")|\s+/g

// JSON's own way to write a number as it was read; TypeScript does not know it yet.
const { parse, rawJSON } = JSON as unknown as {
  readonly parse: (
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown
  ) => unknown
  readonly rawJSON: (text: string) => unknown
}

const keepDigits = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === "number" && source !== undefined ? rawJSON(source) : value

const echoOf = (text: string): unknown => {
  const compact = text.length > maxLookLength ? text : text.replace(stringOrSpace, "$1")
  const size = Buffer.byteLength(compact)
  return size > maxEchoBytes ? `<${size} bytes of JSON>` : parse(compact, keepDigits)
}

/** Echoes out of the text of a body that is valid JSON. */
export const inJson =
  (text: string): Echo =>
  (path) => {
    const span = Scan.locate(text, path as ReadonlyArray<string>)
    return span === undefined ? null : echoOf(text.slice(span.start, span.end))
  }

/** Echoes a plain string: a parameter, or a body that is no JSON. */
export const ofString = (value: unknown): unknown => (value === undefined ? null : echoOf(JSON.stringify(value)))
