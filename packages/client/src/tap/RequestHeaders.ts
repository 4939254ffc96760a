/** The headers of a request, as the application gives them: `fetch` may refuse them, and then its error repeats them. */

import * as ReadOnce from "./ReadOnce.ts"

type Init = Parameters<typeof fetch>[1]

type Pair = readonly [name: string, value: string]

type Pairs = ReadonlyArray<Pair>

const isHeaders = (headers: object): headers is Headers =>
  Object.prototype.toString.call(headers) === "[object Headers]"

/** Headers that can be read without using them up: all but iterators and what else can be iterated. */
const canReadAgain = (headers: object): boolean => {
  if (isHeaders(headers) || !(Symbol.iterator in headers)) return true
  const isList = Array.isArray(headers) && headers[Symbol.iterator] === Array.prototype[Symbol.iterator]
  return isList && headers.every((pair) => Array.isArray(pair))
}

const pairOf = (pair: ReadonlyArray<unknown>): Pair => [String(pair[0]), String(pair[1])]

/** Names of a record. Node sends those that are not enumerable, too. */
const namesOf = (headers: object): ReadonlyArray<string> => Object.getOwnPropertyNames(headers)

const pairsOf = (headers: object): Pairs => {
  if (isHeaders(headers)) return [...headers]
  if (Array.isArray(headers)) return headers.map(pairOf)
  return namesOf(headers).map((name) => pairOf([name, (headers as Readonly<Record<string, unknown>>)[name]]))
}

/** Whether reading a value may do something, such as call a function that answers otherwise the next time. */
const isComputed = (value: unknown): boolean =>
  (typeof value === "object" && value !== null) || typeof value === "function"

/** A symbol is no text, and `fetch` refuses it. */
const textOf = (value: unknown): unknown => (typeof value === "symbol" ? value : String(value))

/** The same headers with each value asked for once; the headers themselves where nothing can tell. */
const once = (headers: object): object => {
  if (isHeaders(headers)) return headers
  if (Array.isArray(headers)) {
    const isPlain = headers.every((pair: ReadonlyArray<unknown>) => !pair.some(isComputed))
    return isPlain ? headers : headers.map((pair: ReadonlyArray<unknown>) => pair.map(textOf))
  }
  const fields = namesOf(headers).map((name) => [name, Object.getOwnPropertyDescriptor(headers, name)!] as const)
  if (fields.every(([, { get, value }]) => get === undefined && !isComputed(value))) return headers
  // Names that are no texts `fetch` refuses.
  if (Object.getOwnPropertySymbols(headers).length > 0) return headers
  const same = {}
  for (const [name, { enumerable = false }] of fields) {
    const value = textOf((headers as Readonly<Record<string, unknown>>)[name])
    Object.defineProperty(same, name, { value, enumerable, configurable: true, writable: true })
  }
  return same
}

/** Passes pairs on to whom reads them, and keeps those that were read. */
const passing = (headers: Iterable<unknown>, seen: Array<Pair>): Iterable<unknown> => ({
  *[Symbol.iterator]() {
    for (const pair of headers) {
      const isIterable = typeof pair === "object" && pair !== null && Symbol.iterator in pair
      const passed = isIterable && !Array.isArray(pair) ? [...(pair as Iterable<unknown>)] : pair
      if (Array.isArray(passed)) seen.push(pairOf(passed))
      yield passed
    }
  }
})

/** What `fetch` is given, and the headers of the call, which may be known only once `fetch` has read them. */
export const read = (request: Request | undefined, init: Init): readonly [Init, () => Pairs] => {
  const given: unknown = init?.headers ?? request?.headers
  const isRecord = (typeof given === "object" && given !== null) || typeof given === "function"
  if (!isRecord) return [init, () => []]
  if (canReadAgain(given)) {
    // Taken now: the application may change them for its next call.
    const headers = once(given)
    const pairs = pairsOf(headers)
    return [headers === given ? init : ReadOnce.over(init!, new Map([["headers", () => headers]])), () => pairs]
  }
  const seen: Array<Pair> = []
  const headers = passing(given as Iterable<unknown>, seen)
  return [ReadOnce.over(init!, new Map([["headers", () => headers]])), () => seen]
}

/** The values of a header, as one. */
export const valueOf = (pairs: Pairs, name: string): string | null => {
  const values = pairs.flatMap(([other, value]) => (other.toLowerCase() === name ? [value] : []))
  return values.length === 0 ? null : values.join(", ")
}
