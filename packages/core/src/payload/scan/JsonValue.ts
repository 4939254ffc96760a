/**
 * The value of a JSON text of which only some fields are needed. One place decides how a text is parsed: a short text by one
 * `JSON.parse`, of which the other fields are a by-product; a long one in steps, without its other fields. For the fields that
 * are needed, and for whether the text is JSON, both give the same result.
 */
import { isUtf8 } from "node:buffer"
import { check, skip, type Visitor } from "./JsonWalk.ts"
import { keyAt, openBrace, openBracket } from "./Scan.ts"
import * as Steps from "./Steps.ts"

/** A value of which some fields are needed; its type alone if there are none. */
export interface Fields {
  readonly members: Map<string, Fields>
  /** Those of an array, by index. */
  readonly elements: Array<Fields | undefined>
  /** Whether all that is within it is needed, but for long strings. */
  isOutline?: boolean
}

/** Strings of an outline that are longer are left out (bytes with quotes and escapes). */
export const maxOutlineString = 1024

/** Values of one outline. Those that come later are left out, so that memory is bounded. */
export const maxOutlineValues = 20_000

type Path = ReadonlyArray<string | number>

const noFields = (): Fields => ({ members: new Map(), elements: [] })

/**
 * The fields at these paths. Those that end at an object or array need its type alone; those of `outlines` need what is within
 * it, up to the bounds above.
 */
export const fieldsAt = (paths: ReadonlyArray<Path>, outlines: ReadonlyArray<Path> = []): Fields => {
  const root = noFields()
  for (const path of paths) addPath(root, path)
  for (const path of outlines) addPath(root, path).isOutline = true
  return root
}

const addPath = (root: Fields, path: Path): Fields => {
  let fields = root
  for (const step of path) {
    const inner = fields.members.get(String(step)) ?? noFields()
    if (typeof step === "number") fields.elements[step] = inner
    fields.members.set(String(step), inner)
    fields = inner
  }
  return fields
}

/** `at` is the offset of the first byte that JSON cannot have there. */
export type Parsed =
  | { readonly value: unknown }
  | { readonly error: "encoding" }
  | { readonly error: "syntax"; readonly at: number }

// Fatal: bytes that are not UTF-8 are refused, not replaced. A byte order mark is no JSON.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Parses the whole text, so that nothing but one value and white space may be in it. */
export const parse = (text: Buffer): Parsed => {
  try {
    return { value: JSON.parse(utf8.decode(text)) as unknown }
  } catch {
    // Read again to say where the error is.
    return Steps.run(parseFields(text, noFields()))
  }
}

/** The same for a text of any length, of which some fields are needed. */
export function* parseInSteps(text: Buffer, fields: Fields): Steps.Steps<Parsed> {
  return text.length < Steps.longFromBytes ? parse(text) : yield* parseFields(text, fields)
}

/** The same, in steps whatever its length. */
export function* parseFields(text: Buffer, fields: Fields): Steps.Steps<Parsed> {
  if (!isUtf8(text)) return { error: "encoding" }
  const reader = new FieldReader(text, fields)
  const errorAt = yield* check(text, reader)
  return errorAt === undefined ? { value: reader.value } : { error: "syntax", at: errorAt }
}

interface Open {
  readonly fields: Fields
  readonly value: Record<string, unknown> | Array<unknown>
  /** How many elements have begun. */
  length: number
}

/** Visits a text, and reads its fields. */
export class FieldReader implements Visitor {
  value: unknown
  readonly #text: Buffer
  readonly #fields: Fields
  /** The objects and arrays that were entered and have not ended. */
  readonly #open: Array<Open> = []
  /** The value that began last: where, its key or index, and its fields, if it is needed. */
  #start = 0
  #key = ""
  #needed: Fields | undefined
  #isSkipped = false
  /** How many values of outlines have begun. */
  #outlined = 0

  constructor(text: Buffer, fields: Fields) {
    this.#text = text
    this.#fields = fields
  }

  begin(start: number, keyStart: number, keyEnd: number): number {
    const text = this.#text
    const needed = this.#fieldsOf(keyStart, keyEnd)
    const code = text[start]
    if (needed !== undefined && (code === openBrace || code === openBracket)) {
      const value = code === openBrace ? {} : []
      this.#put(value)
      // An array is entered for its elements alone: of a conversation, some may be left out.
      if (needed.isOutline === true || (code === openBrace ? needed.members.size : needed.elements.length) > 0) {
        this.#open.push({ fields: needed, value, length: 0 })
        return start + 1
      }
      this.#needed = undefined
    } else {
      this.#needed = needed
      this.#start = start
    }
    this.#isSkipped = true
    return skip
  }

  #fieldsOf(keyStart: number, keyEnd: number): Fields | undefined {
    const around = this.#open.at(-1)
    if (around === undefined) return this.#fields
    if (around.fields.isOutline === true) return this.#outlineOf(around, keyStart, keyEnd)
    if (Array.isArray(around.value)) {
      const index = around.length++
      const fields = around.fields.elements[index]
      if (fields !== undefined) this.#key = String(index)
      return fields
    }
    this.#key = keyAt(this.#text, keyStart, keyEnd)
    return around.fields.members.get(this.#key)
  }

  #outlineOf(around: Open, keyStart: number, keyEnd: number): Fields | undefined {
    const index = around.length++
    if (++this.#outlined > maxOutlineValues) return undefined
    this.#key = Array.isArray(around.value) ? String(index) : keyAt(this.#text, keyStart, keyEnd)
    return around.fields
  }

  /** The last of several equal keys counts. */
  #put(value: unknown): void {
    const around = this.#open.at(-1)
    if (around === undefined) this.value = value
    // Not assigned, because of the key `__proto__`.
    else Object.defineProperty(around.value, this.#key, { value, configurable: true, enumerable: true, writable: true })
  }

  end(end: number): void {
    if (!this.#isSkipped) {
      this.#open.pop()
      return
    }
    this.#isSkipped = false
    if (this.#needed === undefined) return
    const isLeftOut = this.#needed.isOutline === true && end - this.#start > maxOutlineString
    // Undefined takes the place of an earlier value of the same key.
    this.#put(isLeftOut ? undefined : JSON.parse(this.#text.toString("utf8", this.#start, end)))
  }
}
