/** Reads JSON of unknown shape. Nothing here throws, and what is missing or of another type is `undefined`, `null` or empty. */
import type { Json, JsonObject } from "../Format.ts"
import { ExactNumber } from "./ExactJson.ts"

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)

/** The value at a path of keys and indexes. Only own properties count, so that `constructor` is a key like any other. */
export const get = (value: unknown, ...path: ReadonlyArray<string | number>): Json | undefined => {
  let current = value
  // Every call reads some hundred values, and an iterator costs more than the look-up.
  for (let at = 0; at < path.length; at += 1) {
    const key = path[at]!
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined
    current = (current as Readonly<Record<string | number, unknown>>)[key]
  }
  return current as Json | undefined
}

/** The value of a JSON text; undefined where it is none. */
export const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Whether something stands at a path. A null is no value: providers write it where there is none. */
export const says = (value: unknown, ...path: ReadonlyArray<string | number>): boolean =>
  (get(value, ...path) ?? null) !== null

/** The elements of an array, and none of anything else. */
export const list = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

/** The elements of an array, and what stands in place of one. */
export const many = (value: unknown): ReadonlyArray<Json> =>
  isEmpty(value) || Array.isArray(value) ? list(value) : [value as Json]

/** Those of some keys under which a value has a text. What else stands there is not read, and so it is kept. */
export const texts = (value: unknown, ...keys: ReadonlyArray<string>): ReadonlyArray<string> =>
  keys.filter((key) => text(get(value, key)) !== null)

/** A text that is not empty. */
export const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null)

/** A count: an integer from 0 to 2^53 - 1. */
export const count = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null

/** The first value that is not null or undefined. */
export const first = <A>(...values: ReadonlyArray<A | null | undefined>): A | null =>
  values.find((value) => value !== null && value !== undefined) ?? null

/** The sum of what is known; null if nothing is, or if it is beyond 2^53 - 1. */
export const sum = (...values: ReadonlyArray<number | null>): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : count(known.reduce((total, value) => total + value, 0))
}

/** Whether a value says nothing: null, an empty text, an empty array or an empty object. */
export const isEmpty = (value: unknown): boolean => {
  if (value === undefined || value === null || value === "") return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}

/** The fields of an object without those of the named keys, and without those that say nothing. */
export const rest = (value: unknown, without: ReadonlySet<string> = new Set()): JsonObject =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([key, item]) => !without.has(key) && !isEmpty(item)))
    : {}
