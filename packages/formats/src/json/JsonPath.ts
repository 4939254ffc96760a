/** Sets values at JSON paths such as `$.users[0]['full name']`, piece by piece. */
import type { Json, JsonObject } from "../Format.ts"
import { define } from "./ExactJson.ts"
import { get, isObject, text } from "./Read.ts"

/** Longer paths are not read: no argument of a function has one. */
const maxLength = 10_000

const segment = /\.?([^.[\]'"]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy

/** The keys and indexes of a path; null where it is none. */
const read = (path: string): ReadonlyArray<string | number> | null => {
  if (!path.startsWith("$") || path.length > maxLength) return null
  const keys: Array<string | number> = []
  segment.lastIndex = 1
  while (segment.lastIndex < path.length) {
    const match = segment.exec(path)
    if (match === null) return null
    const [, name, index, single, double] = match
    keys.push(index === undefined ? (name ?? (single ?? double ?? "").replace(/\\(.)/g, "$1")) : Number(index))
  }
  return keys
}

/** Whether a value can be set there: in an object by any key, in an array at one of its elements or behind the last. */
const fits = (target: Json, key: string | number): boolean =>
  typeof key === "number" ? Array.isArray(target) && key <= target.length : isObject(target)

export interface PieceReader {
  /** Takes a piece as Gemini streams it: `jsonPath`, a value by its type, and `willContinue` where more of a text follows. */
  readonly set: (root: JsonObject, piece: Json) => void
}

const valueOf = (piece: Json): Json | undefined => {
  const [value] = ["stringValue", "numberValue", "boolValue"]
    .map((key) => get(piece, key))
    .filter((each) => each !== undefined && each !== null)
  if (value !== undefined) return value
  return get(piece, "nullValue") === undefined ? undefined : null
}

export const make = (): PieceReader => {
  /** The path of the text that goes on. */
  let open: string | null = null
  return {
    set: (root, piece) => {
      const path = text(get(piece, "jsonPath"))
      const keys = path === null ? null : read(path)
      const value = valueOf(piece)
      const last = keys?.at(-1)
      if (keys === null || last === undefined || value === undefined) return
      let target: Json = root
      for (const [place, key] of keys.slice(0, -1).entries()) {
        if (!fits(target, key)) return
        const found: Json | undefined = get(target, key)
        const isThere = typeof found === "object" && found !== null
        const made: Json = typeof keys[place + 1] === "number" ? [] : {}
        const next: Json = isThere ? found : made
        if (!isThere) define(target as object, key, next)
        target = next
      }
      if (!fits(target, last)) return
      const before = get(target, last)
      const goesOn = open === path && typeof before === "string" && typeof value === "string"
      define(target as object, last, goesOn ? `${before}${value}` : value)
      open = get(piece, "willContinue") === true ? path : null
    }
  }
}
