/** The `input` of a validation error: the rejected value as it was sent, with all digits of its numbers. */
import { Scan } from "@tachograph/core"

/** The value at a path below the decoded location, short enough for an answer. */
export type Echo = (path: ReadonlyArray<PropertyKey>) => unknown

/** Maximum length of JSON without white space (bytes). A longer value is replaced by a text with its size. */
const maxEchoBytes = 1024

/** Longer texts (UTF-16 units) are not compacted: nearly all of them would have to be white space to fit. */
const maxCompactedLength = 64 * maxEchoBytes

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

const echoOf = (text: string): unknown => {
  const compact = text.length > maxCompactedLength ? text : text.replace(stringOrSpace, "$1")
  const size = Buffer.byteLength(compact)
  return size > maxEchoBytes ? `<${size} bytes of JSON>` : parse(compact, keepDigits)
}

/** For the text of a body that is valid JSON. Each object in it is scanned at most once, for any number of errors. */
export const inJson = (text: string): Echo => {
  let bytes: Buffer | undefined
  const inBytes = () => (bytes ??= Buffer.from(text))
  const spans = new Map<string, Scan.Span | undefined>()
  const children = new Map<string, ReadonlyMap<string, Scan.Span>>()
  const echoes = new Map<string, unknown>()

  const cached = <A>(cache: Map<string, A>, path: ReadonlyArray<PropertyKey>, make: () => A): A => {
    const key = JSON.stringify(path)
    if (!cache.has(key)) cache.set(key, make())
    return cache.get(key)!
  }
  const childrenOf = (path: ReadonlyArray<PropertyKey>): ReadonlyMap<string, Scan.Span> =>
    cached(children, path, () => {
      const span = spanOf(path)
      return span === undefined ? new Map() : Scan.children(inBytes(), span.start)
    })
  const spanOf = (path: ReadonlyArray<PropertyKey>): Scan.Span | undefined =>
    cached(spans, path, () =>
      path.length === 0 ? Scan.locate(inBytes(), []) : childrenOf(path.slice(0, -1)).get(String(path.at(-1)))
    )
  return (path) =>
    cached(echoes, path, () => {
      const span = spanOf(path)
      return span === undefined ? null : echoOf(inBytes().toString("utf8", span.start, span.end))
    })
}

/** For a plain string: a parameter, or a body that is not JSON. */
export const ofString = (value: unknown): unknown => (value === undefined ? null : echoOf(JSON.stringify(value)))
