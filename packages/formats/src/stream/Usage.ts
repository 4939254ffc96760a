/** Counts of a stream, which it tells again and again. */
import type { Json, JsonObject } from "../Format.ts"
import { define } from "../json/ExactJson.ts"
import { get, isEmpty, isObject } from "../json/Read.ts"
import { setLast, type Draft } from "./Draft.ts"

/** Nesting up to which counts in counts are told apart. */
const maxDepth = 4

/**
 * What is counted after a count came again: a later one replaces an earlier one, unless it says nothing. Counts grow, so that a later zero
 * only says that it was not filled in. An object is changed, and not copied for each event.
 */
export const laterOf = (before: Json | undefined, value: Json, depth = 0): Json => {
  if ((value === 0 || isEmpty(value)) && !isEmpty(before)) return before as Json
  if (!isObject(before) || !isObject(value) || depth === maxDepth) return value
  for (const [key, item] of Object.entries(value)) define(before, key, laterOf(get(before, key), item, depth + 1))
  return before
}

/** Sets a field of which the last value counts that says something, but for a usage, of which each count does. */
export const setTold = (draft: Draft, key: string, value: Json) =>
  key === "usage" ? define(draft, key, laterOf(get(draft, key), value)) : setLast(draft, key, value)

/** The same of what ends a stream, whose order is the one of the answer without streaming. */
export const lastOf = (before: Json | undefined, value: Json | undefined): Json => {
  if (!isObject(before) || !isObject(value)) return laterOf(before, value ?? null)
  const last: JsonObject = {}
  for (const key of Object.keys({ ...value, ...before }))
    define(last, key, laterOf(get(before, key), get(value, key) ?? null))
  return last
}
