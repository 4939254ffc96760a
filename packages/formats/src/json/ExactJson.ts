/** JSON whose numbers may be larger or longer than JavaScript's: such a number keeps its text until the result is taken. */
import type { Json } from "../Format.ts"

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
  if (!suspicious.test(text)) return JSON.parse(text) as Json
  // Where the platform does not give the source of a number, large numbers are rounded.
  const keepExact = (_key: string, value: unknown, context?: Context) =>
    typeof value === "number" && context?.source !== undefined && isChanged(context.source)
      ? new ExactNumber(context.source)
      : value
  return JSON.parse(text, keepExact as (key: string, value: unknown) => unknown) as ExactJson
}

/** Whether an exact number is anywhere in a value. */
export const isExact = (value: ExactJson): boolean => {
  if (value instanceof ExactNumber) return true
  if (typeof value !== "object" || value === null) return false
  return Object.values(value).some(isExact)
}

/** Rounds each exact number to JavaScript's nearest; what is beyond the largest becomes null, as in JSON. */
export const round = (value: ExactJson): Json => {
  if (value instanceof ExactNumber) {
    const nearest = Number(value.source)
    return Number.isFinite(nearest) ? nearest : null
  }
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return (value as ReadonlyArray<ExactJson>).map(round)
  // `fromEntries` defines each key, so that `__proto__` is a key like any other.
  return Object.fromEntries(Object.entries(value as ExactObject).map(([key, item]) => [key, round(item)]))
}

/** The JSON text of a value, with exact numbers as they came. */
export const stringify = (value: ExactJson): string => {
  if (value instanceof ExactNumber) return value.source
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${(value as ReadonlyArray<ExactJson>).map(stringify).join(",")}]`
  return `{${Object.entries(value as ExactObject)
    .map(([key, item]) => `${JSON.stringify(key)}:${stringify(item)}`)
    .join(",")}}`
}
