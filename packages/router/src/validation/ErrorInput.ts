/** The `input` of a validation error: the rejected value as it was sent, with all digits of its numbers. */
import { Scan } from "@tachograph/core"

/** The values at paths below the decoded location, in their order, each short enough for an answer. */
export type Echo = (paths: ReadonlyArray<Scan.Path>) => ReadonlyArray<unknown>

/** Maximum length of JSON without white space (bytes). A longer value is replaced by a text with its size. */
const maxEchoBytes = 1024

/** Longer texts (bytes) are not compacted, nor copied: nearly all of them would have to be white space to fit. */
const maxCompactedBytes = 64 * maxEchoBytes

/** White space between tokens. Strings are matched too, so that white space in them is kept. */
const stringOrSpace = /("(?:[^"\\]|\\.)*")|\s+/g

// Writes a number as it was read. TypeScript does not declare it yet.
const { parse, rawJSON } = JSON as unknown as {
  readonly parse: (
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown
  ) => unknown
  readonly rawJSON: (text: string) => unknown
}

const keepDigits = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === "number" && source !== undefined ? rawJSON(source) : value

const sizeOf = (bytes: number): string => `<${bytes} bytes of JSON>`

const echoOf = (text: string): unknown => {
  const compact = text.replace(stringOrSpace, "$1")
  const size = Buffer.byteLength(compact)
  return size > maxEchoBytes ? sizeOf(size) : parse(compact, keepDigits)
}

/** The value at a span of a valid JSON text; null if there is none. */
const ofSpan = (text: Buffer, span: Scan.Span | undefined): unknown => {
  if (span === undefined) return null
  const { end, start } = span
  return end - start > maxCompactedBytes ? sizeOf(end - start) : echoOf(text.toString("utf8", start, end))
}

/** For the text of a body that is valid JSON. */
export const inJson =
  (text: Buffer): Echo =>
  (paths) => {
    const spans = Scan.locateAll(text, paths)
    // The fields that one object lacks have the same `input`.
    const echoes = new Map<number, unknown>()
    return spans.map((span) => {
      if (span === undefined) return null
      if (!echoes.has(span.start)) echoes.set(span.start, ofSpan(text, span))
      return echoes.get(span.start)
    })
  }

/** For a plain string: a parameter, or a body that is not JSON. The size of a long one does not count its escapes. */
export const ofString = (value: unknown): unknown => {
  if (value === undefined) return null
  const isLong = typeof value === "string" && value.length > maxCompactedBytes
  return isLong ? sizeOf(Buffer.byteLength(value) + 2) : echoOf(JSON.stringify(value))
}
