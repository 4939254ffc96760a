/** Finds a value at one of several places, and puts another one there. */
import type { Json, Path } from "../Format.ts"
import { get, isObject } from "./Read.ts"

/** The first array at one of some paths. */
export const arrayAt = (value: unknown, paths: ReadonlyArray<Path>) => {
  for (const path of paths) {
    const elements = get(value, ...path)
    if (Array.isArray(elements)) return { path, elements: elements as ReadonlyArray<Json> }
  }
  return undefined
}

/** A copy of a value with another one in the place of what stands at a path. */
export const withAt = (value: Json, [key, ...path]: Path, inner: Json): Json => {
  if (key === undefined) return inner
  const changed = withAt(get(value, key) ?? null, path, inner)
  if (Array.isArray(value)) return value.map((item: Json, at) => (at === key ? changed : item))
  return isObject(value) ? { ...value, [key]: changed } : value
}
