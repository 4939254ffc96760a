/** The text that is searched for: in texts, and in the JSON that holds them, without parsing it. */
import * as CaseFolding from "./CaseFolding.ts"

/** Where a text has the needle, in UTF-16 units. */
export interface Hit {
  readonly start: number
  readonly end: number
}

/**
 * Characters of the needle that are looked for in JSON: the more, the longer is a needle such as `aaaab` looked for in a text such
 * as `aaaaaa`.
 */
const maxRawCharacters = 32

/** Escapes of characters that no encoder needs to escape. A text with one is looked at whole. */
const needless = /\\u00(?:2[0f]|3[0-9]|4[1-9a-f]|5[0-9ac]|6[1-9a-f]|7[0-9a])/gi

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  "\b": "b",
  "\f": "f",
  "\n": "n",
  "\r": "r",
  "\t": "t"
}

const isPlain = /^[ 0-9A-Za-z]$/

/** A way to write a character in a JSON string: characters of the JSON, and UTF-16 units as escapes of four digits. */
type Form = ReadonlyArray<string | number>

/** Each way to write a character but for `needless` escapes. */
const formsOf = (character: string): ReadonlyArray<Form> => {
  if (isPlain.test(character)) return [[character]]
  const forms: Array<Form> = []
  const mustBeEscaped = character < " " || character === '"' || character === "\\"
  if (!mustBeEscaped) forms.push([character])
  const short = shortEscapes[character]
  if (short !== undefined) forms.push(["\\", short])
  if (character !== "\\" && character !== "/") {
    forms.push(Array.from({ length: character.length }, (_, at) => character.charCodeAt(at)))
  }
  return forms
}

const byte = (value: number): string => `\\x${value.toString(16).padStart(2, "0")}`

/** A pattern of the bytes of UTF-8. */
const bytesOf = (text: string): string => [...Buffer.from(text)].map(byte).join("")

/** A pattern of the four digits of an escape, in either case. */
const digitsOf = (unit: number): string =>
  `u${unit
    .toString(16)
    .padStart(4, "0")
    .replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`

const isByte = /^\\x[0-9a-f]{2}$/

/** A pattern of any of these. A class of bytes is found much faster than alternatives. */
const oneOf = (patterns: ReadonlyArray<string>): string => {
  const distinct = [...new Set(patterns)]
  const bytes = distinct.filter((pattern) => isByte.test(pattern))
  const all = bytes.length < 2 ? distinct : [`[${bytes.join("")}]`, ...distinct.filter((each) => !isByte.test(each))]
  return all.length === 1 ? all[0]! : `(?:${all.join("|")})`
}

/** A pattern of one of these characters in a JSON string. */
const inString = (characters: ReadonlyArray<string>): string =>
  oneOf(
    characters
      .flatMap(formsOf)
      .map((form) =>
        form.map((each) => (typeof each === "string" ? bytesOf(each) : bytesOf("\\") + digitsOf(each))).join("")
      )
  )

/** The same in a JSON string that is written in a JSON string. */
const inNestedString = (characters: ReadonlyArray<string>): string =>
  oneOf(
    characters
      .flatMap(formsOf)
      .map((form) =>
        form.map((each) => (typeof each === "string" ? inString([each]) : inString(["\\"]) + digitsOf(each))).join("")
      )
  )

export class Needle {
  readonly #text: string
  readonly #isCaseSensitive: boolean
  readonly #raw: RegExp

  /** `text` is not empty. */
  constructor(text: string, isCaseSensitive: boolean) {
    this.#isCaseSensitive = isCaseSensitive
    this.#text = isCaseSensitive ? text : CaseFolding.fold(text)
    const characters = Array.from(text.slice(0, 2 * maxRawCharacters))
      .slice(0, maxRawCharacters)
      .map((character) => (isCaseSensitive ? [character] : CaseFolding.alike(character)))
    this.#raw = new RegExp(oneOf([inString, inNestedString].map((of) => characters.map(of).join(""))), "g")
  }

  /** The first one in a text. */
  find(text: string): Hit | undefined {
    const start = (this.#isCaseSensitive ? text : CaseFolding.fold(text)).indexOf(this.#text)
    return start === -1 ? undefined : { start, end: start + this.#text.length }
  }

  /**
   * Where JSON may have a text with the needle, from a position on; -1 if it has none. Each character of `bytes` is a byte of the
   * JSON's UTF-8. The text may be in a JSON string in a JSON string.
   */
  findRaw(bytes: string, from = 0): number {
    this.#raw.lastIndex = from
    const found = this.#raw.exec(bytes)?.index ?? -1
    if (!bytes.includes("\\u", from)) return found
    needless.lastIndex = from
    const escape = needless.exec(bytes)?.index ?? -1
    if (found === -1 || escape === -1) return Math.max(found, escape)
    return Math.min(found, escape)
  }
}
