/** Writes values of attributes as JSON texts. */
import type { Value, ValueMap } from "./Span.ts"

/** A JSON text that stands in another one as it is. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** What is written: values, lists and objects of them, and texts that are JSON already. */
export type Writable = Value | JsonText | ReadonlyArray<Writable> | ReadonlyMap<string, Writable>

/** Levels of objects and arrays in an attribute: those of an event's field, without the object of all attributes and its lists. */
const maxLevels = 9_000

/** A number that JSON has no form for is a text, as OTLP writes it. */
const ofNumber = (value: number): string => {
  if (!Number.isFinite(value)) return JSON.stringify(String(value))
  return Object.is(value, -0) ? "-0" : String(value)
}

const ofScalar = (value: Value): string => {
  if (typeof value === "number") return ofNumber(value)
  return typeof value === "bigint" ? String(value) : JSON.stringify(value)
}

const entriesOf = (value: Writable & object): ReadonlyArray<readonly [string | null, Writable]> => {
  if (Array.isArray(value)) return value.map((item: Writable) => [null, item])
  return value instanceof Map ? [...value] : Object.entries(value as ValueMap)
}

/** The JSON text of a value, of any depth: what is nested too deep for an event is null. */
export const jsonOf = (value: Writable): string => {
  const written: Array<string> = []
  /** What is to be written, the next one last, each with its level. */
  const open: Array<readonly [item: Writable, level: number]> = [[value, 0]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [item, level] = next
    if (item instanceof JsonText) written.push(item.text)
    else if (typeof item !== "object" || item === null) written.push(ofScalar(item))
    else if (level === maxLevels) written.push("null")
    else {
      const isList = Array.isArray(item)
      written.push(isList ? "[" : "{")
      open.push([new JsonText(isList ? "]" : "}"), 0])
      const entries = entriesOf(item)
      for (let at = entries.length - 1; at >= 0; at--) {
        const [key, inner] = entries[at]!
        open.push([inner, level + 1])
        const head = (at === 0 ? "" : ",") + (key === null ? "" : `${JSON.stringify(key)}:`)
        if (head !== "") open.push([new JsonText(head), 0])
      }
    }
  }
  return written.join("")
}

/** Whether a text has so many of a character. */
const hasMany = (text: string, character: string, many: number): boolean => {
  let at = -1
  for (let count = 0; count <= many; count++) if ((at = text.indexOf(character, at + 1)) === -1) return false
  return true
}

/** Whether objects and arrays of a JSON text are nested too deep for an event. */
const isTooDeep = (text: string): boolean => {
  let level = 0
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (isInText && character === "\\") at++
    else if (character === '"') isInText = !isInText
    else if (!isInText && (character === "{" || character === "[") && ++level > maxLevels) return true
    else if (!isInText && (character === "}" || character === "]")) level--
  }
  return false
}

/** The value of a text that is the JSON of an object or array which an event can hold; otherwise undefined. */
export const parsedContainer = (text: string): object | undefined => {
  if (!/^\s*[[{]/.test(text) || !text.isWellFormed()) return undefined
  try {
    const value = JSON.parse(text) as object
    // Few brackets cannot be deep, and are counted faster than levels.
    const isMaybeDeep = hasMany(text, "[", maxLevels / 2) || hasMany(text, "{", maxLevels / 2)
    return isMaybeDeep && isTooDeep(text) ? undefined : value
  } catch {
    return undefined
  }
}
