/** What a validation error repeats of a body: the value as it was written, its numbers to the digit. */
import { Scan } from "@tachograph/core"

/** What stood at a path below the place that was decoded, fit to be echoed. */
export type Echo = (path: ReadonlyArray<PropertyKey>) => unknown

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

/** Echoes out of the text of a body that is valid JSON. Each object in it is looked through once, however much is wrong. */
export const inJson = (text: string): Echo => {
  let bytes: Buffer | undefined
  const inBytes = () => (bytes ??= Buffer.from(text))
  const spans = new Map<string, Scan.Span | undefined>()
  const children = new Map<string, ReadonlyMap<string, Scan.Span>>()
  const echoes = new Map<string, unknown>()

  const cached = <A>(memory: Map<string, A>, path: ReadonlyArray<PropertyKey>, make: () => A): A => {
    const key = JSON.stringify(path)
    if (!memory.has(key)) memory.set(key, make())
    return memory.get(key)!
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

/** Echoes a plain string: a parameter, or a body that is no JSON. */
export const ofString = (value: unknown): unknown => (value === undefined ? null : echoOf(JSON.stringify(value)))
