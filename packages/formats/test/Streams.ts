/** Bodies of streams, and what an accumulator makes of them. */
import { expect } from "vitest"
import type { Accumulated, Accumulator, Json } from "@tachograph/formats"

const encoder = new TextEncoder()

/** Pushes a body that is cut before each of the given bytes. */
export const accumulate = (
  make: () => Accumulator,
  body: string | Uint8Array,
  cuts: ReadonlyArray<number> = []
): Accumulated => {
  const bytes = typeof body === "string" ? encoder.encode(body) : body
  const stream = make()
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    stream.push(bytes.subarray(from, cut))
    from = cut
  }
  return stream.end()
}

export interface Framing {
  readonly end?: string
  readonly done?: boolean
  /** Whether events have the name that is their type. */
  readonly names?: boolean
}

const typeOf = (payload: unknown): string => (payload as { readonly type?: string }).type ?? ""

export const toText = (
  payloads: ReadonlyArray<unknown>,
  { end = "\n", done = false, names = false }: Framing = {}
): string => {
  const events = payloads.map(
    (payload) => `${names ? `event: ${typeOf(payload)}${end}` : ""}data: ${JSON.stringify(payload)}${end}${end}`
  )
  return events.join("") + (done ? `data: [DONE]${end}${end}` : "")
}

/** Every way of framing and cutting the same payloads gives the same output. */
export const expectSameHoweverCut = (make: () => Accumulator, payloads: ReadonlyArray<unknown>) => {
  const whole = accumulate(make, toText(payloads, { done: true }))
  for (const end of ["\n", "\r\n", "\r"]) {
    for (const names of [false, true]) {
      const body = `\uFEFF: ping${end}${end}${end}${toText(payloads, { end, done: true, names })}: ping${end}`
      const bytes = encoder.encode(body)
      expect(
        accumulate(
          make,
          bytes,
          Array.from(bytes, (_, index) => index)
        )
      ).toEqual(whole)
      for (let cut = 0; cut < bytes.length; cut += 61) expect(accumulate(make, bytes, [cut])).toEqual(whole)
    }
  }
}

/** A body that is cut at any byte gives what its whole events give. */
export const expectTruePrefixes = (make: () => Accumulator, payloads: ReadonlyArray<unknown>) => {
  const bytes = encoder.encode(toText(payloads))
  const ends = payloads.map((_, index) => encoder.encode(toText(payloads.slice(0, index + 1))).length - 2)
  const outputs = [...ends, 0].map((_, count) => accumulate(make, toText(payloads.slice(0, count))))
  for (let cut = 0; cut < bytes.length; cut++) {
    // An event counts as soon as its JSON is whole.
    const known = ends.filter((end) => end <= cut).length
    expect(accumulate(make, bytes.subarray(0, cut)), `cut at ${cut}`).toEqual(outputs[known])
  }
}

/** A body that is read at each moment gives in the end what it gives when it is read once. */
export const expectReadableAtAnyMoment = (make: () => Accumulator, payloads: ReadonlyArray<unknown>) => {
  const bytes = encoder.encode(toText(payloads, { done: true }))
  const stream = make()
  for (let from = 0; from < bytes.length; from += 3) {
    stream.push(bytes.subarray(from, from + 3))
    stream.end()
  }
  expect(stream.end()).toEqual(accumulate(make, bytes))
  expect(stream.end()).toEqual(stream.end())
}

/** A figure of 0 says nothing among figures. */
const isNothing = (value: unknown, path: string): boolean => {
  if (value === undefined || value === null || value === "") return true
  if (value === 0) return /^\.(?:usage|created|choices\.\d+\.message\.audio)\b/.test(path)
  return typeof value === "object" && Object.entries(value).every(([key, item]) => isNothing(item, `${path}.${key}`))
}

const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  return Array.isArray(value) ? "list" : typeof value
}

/**
 * The paths at which two outputs of two calls differ in structure: other keys, types or lengths. Fields that say nothing are
 * like missing ones, because providers leave them out as they like; texts and figures belong to the call.
 */
export const structuralDifferences = (a: unknown, b: unknown, path = ""): ReadonlyArray<string> => {
  const [isLeftNothing, isRightNothing] = [isNothing(a, path), isNothing(b, path)]
  if (isLeftNothing && isRightNothing) return []
  if (isLeftNothing || isRightNothing || kindOf(a) !== kindOf(b)) return [path]
  if (typeof a !== "object") return []
  const [left, right] = [a as Readonly<Record<string, Json>>, b as Readonly<Record<string, Json>>]
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((key) =>
    structuralDifferences(left[key], right[key], `${path}.${key}`)
  )
}
