/**
 * JSON whose numbers may be larger or longer than JavaScript's: such a number keeps its text until the result is taken.
 * Values of any depth are walked without recursion.
 */
import type { Json, JsonObject } from "../Format.ts"

/** A number that JavaScript would change, as it stood in the text. */
export class ExactNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

/** Parsed JSON that may hold exact numbers. */
export type ExactJson = string | number | boolean | null | ExactNumber | ReadonlyArray<ExactJson> | ExactObject
export interface ExactObject {
  readonly [key: string]: ExactJson
}

/** Digits or an exponent that can exceed a double. Most texts have none, and are parsed without a reviver. */
const suspicious = /\d{16}|\d[eE]/

/** Nesting up to which `JSON.stringify` and a reviver, which recurse, have room on any stack. */
const safeDepth = 500

const isChanged = (source: string): boolean => {
  const value = Number(source)
  if (!Number.isFinite(value)) return true
  if (/^-?\d+$/.test(source)) return !Number.isSafeInteger(value)
  const digits = source
    .replace(/[eE].*$/, "")
    .replace(/^-?0*\.?0*/, "")
    .replace(".", "")
  return digits.length > 17
}

/** The third argument of a reviver, which the standard library of TypeScript has no type for yet. */
interface Context {
  readonly source?: string
}

/** Parses JSON text. Throws a `SyntaxError` where it is none. */
export const parse = (text: string): ExactJson => {
  const value = JSON.parse(text) as Json
  if (!suspicious.test(text) || isDeep(value)) return value
  // Where the platform does not give the source of a number, large numbers are rounded.
  const keepExact = (_key: string, value: unknown, context?: Context) =>
    typeof value === "number" && context?.source !== undefined && isChanged(context.source)
      ? new ExactNumber(context.source)
      : value
  return JSON.parse(text, keepExact as (key: string, value: unknown) => unknown) as ExactJson
}

/** What a text says in JSON, or the text itself where it is none, such as one that was cut. */
export const parsedOrSame = (text: string): Json => {
  try {
    return parse(text) as Json
  } catch {
    return text
  }
}

/** JSON that a text holds: undefined where it holds none, or a number that JavaScript would change. */
export const parseFaithfully = (text: string): Json | undefined => {
  try {
    const value = parse(text)
    return isExact(value) ? undefined : (value as Json)
  } catch {
    return undefined
  }
}

type Container = ReadonlyArray<ExactJson> | ExactObject

const isContainer = (value: unknown): value is Container =>
  typeof value === "object" && value !== null && !(value instanceof ExactNumber)

/** Whether a predicate is true of a value or of anything in it. */
const some = (value: ExactJson, predicate: (value: ExactJson, depth: number) => boolean): boolean => {
  const open: Array<readonly [ExactJson, number]> = [[value, 0]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [current, depth] = next
    if (predicate(current, depth)) return true
    if (isContainer(current)) for (const item of Object.values(current)) open.push([item as ExactJson, depth + 1])
  }
  return false
}

/** Whether an exact number is anywhere in a value. */
export const isExact = (value: ExactJson): boolean => some(value, (item) => item instanceof ExactNumber)

/** Whether a value is nested so deep that functions that recurse may not take it. */
export const isDeep = (value: ExactJson): boolean => some(value, (_, depth) => depth > safeDepth)

const roundNumber = (number: ExactNumber): number | null => {
  const nearest = Number(number.source)
  return Number.isFinite(nearest) ? nearest : null
}

/** Sets a field. Assigning to `__proto__` would change the prototype, so that key is defined. */
export const define = (target: object, key: string | number, value: unknown): void => {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else (target as Record<string | number, unknown>)[key] = value
}

/**
 * Copies a value and rounds each exact number in it to JavaScript's nearest; what is beyond the largest becomes null, as in
 * JSON.
 */
export const round = (value: ExactJson): Json => {
  const open: Array<readonly [Container, object]> = []
  const copy = (item: ExactJson): Json => {
    if (item instanceof ExactNumber) return roundNumber(item)
    if (!isContainer(item)) return item as Json
    const target: Json = Array.isArray(item) ? [] : {}
    open.push([item, target])
    return target
  }
  const result = copy(value)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [source, target] = next
    if (Array.isArray(source)) for (const item of source) (target as Array<Json>).push(copy(item as ExactJson))
    else for (const key of Object.keys(source)) define(target, key, copy((source as ExactObject)[key] as ExactJson))
  }
  return result
}

/** A container that is being written: how many of its items are, and its keys where it is an object. */
interface Frame {
  readonly container: Container
  readonly keys: ReadonlyArray<string> | null
  index: number
}

/** The JSON text of a value, with exact numbers as they came. With `sortKeys`, it depends on no order of keys. */
export const stringify = (value: ExactJson, sortKeys = false): string => {
  const written: Array<string> = []
  const frames: Array<Frame> = []
  const write = (item: ExactJson) => {
    if (item instanceof ExactNumber) written.push(item.source)
    else if (!isContainer(item)) written.push(JSON.stringify(item) ?? "null")
    else {
      const keys = Array.isArray(item) ? null : Object.keys(item)
      if (sortKeys) keys?.sort()
      written.push(keys === null ? "[" : "{")
      frames.push({ container: item, keys, index: 0 })
    }
  }
  write(value)
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const { container, keys } = frame
    const index = frame.index++
    if (index === (keys ?? (container as ReadonlyArray<ExactJson>)).length) {
      written.push(keys === null ? "]" : "}")
      frames.pop()
      continue
    }
    if (index > 0) written.push(",")
    if (keys === null) write((container as ReadonlyArray<ExactJson>)[index] as ExactJson)
    else {
      const key = keys[index] as string
      written.push(JSON.stringify(key), ":")
      write((container as ExactObject)[key] as ExactJson)
    }
  }
  return written.join("")
}

/** An object without exact numbers, and its text where `JSON.stringify` would lose one of them or has no room for its depth. */
export const settle = (value: ExactObject): { readonly output: JsonObject; readonly text: string | null } => ({
  output: round(value) as JsonObject,
  text: isExact(value) || isDeep(value) ? stringify(value) : null
})
