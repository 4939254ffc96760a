/**
 * A text of an event in which each reference to pieces is a JSON string, a token. So it can be parsed without the pieces, however long
 * the history is, and a run of the history is one element.
 */
import { randomBytes } from "node:crypto"
import { ByteReader } from "../payload/format/Bytes.ts"
import type * as PackContent from "../payload/format/PackContent.ts"
import * as Template from "../payload/format/Template.ts"

/** What a token stands for. */
export type Reference =
  | { readonly kind: "history"; readonly first: number; readonly count: number; readonly separator: string }
  | { readonly kind: "part"; readonly number: number }
  | { readonly kind: "shared"; readonly sha256: Buffer }

const digits = "ghijklmnop"

/** Hexadecimal digits as letters: digits before an `e` would look like a large number. */
const lettersOf = (bytes: Buffer): string => bytes.toString("hex").replaceAll(/\d/g, (digit) => digits[Number(digit)]!)

const bytesOf = (letters: string): Buffer =>
  Buffer.from(
    letters.replaceAll(/[g-p]/g, (letter) => String(digits.indexOf(letter))),
    "hex"
  )

/** It cannot be guessed, so that no text contains what looks like a token. */
const mark = `tg-${lettersOf(randomBytes(16))}:`

const token = new RegExp(`"${mark}([^"]*)"`, "g")

const noSeparator = Buffer.alloc(0)

const tokenOf = (description: string): Buffer => Buffer.from(`"${mark}${description}"`)

/** The JSON text of a template with tokens for its references. The same references have the same tokens. */
export const textOf = ({ content, start }: PackContent.TemplateSpan): string => {
  const pieces: Array<Buffer> = []
  const history = (first: number, count: number, separator: Buffer): void => {
    if (Template.isOfOneArray(count, separator)) {
      pieces.push(tokenOf(`h${first},${count},${lettersOf(separator)}`))
      return
    }
    for (let number = first; number < first + count; number++) {
      if (number > first) pieces.push(separator)
      history(number, 1, noSeparator)
    }
  }
  Template.read(new ByteReader(content, start), {
    literal: (source, from, to) => pieces.push(source.subarray(from, to)),
    part: (number) => pieces.push(tokenOf(`p${number}`)),
    history,
    shared: (sha256) => pieces.push(tokenOf(`s${lettersOf(sha256)}`))
  })
  return Buffer.concat(pieces).toString()
}

const read = (description: string): Reference => {
  const rest = description.slice(1)
  if (description.startsWith("p")) return { kind: "part", number: Number(rest) }
  if (description.startsWith("s")) return { kind: "shared", sha256: bytesOf(rest) }
  const [first, count, separator = ""] = rest.split(",")
  return { kind: "history", first: Number(first), count: Number(count), separator: bytesOf(separator).toString() }
}

/** The reference that a parsed value stands for, if it is a token. */
export const referenceOf = (value: unknown): Reference | undefined =>
  typeof value === "string" && value.startsWith(mark) ? read(value.slice(mark.length)) : undefined

export const hasTokens = (text: string): boolean => text.includes(mark)

/** The references in a JSON text with tokens, in order. */
export const referencesIn = (text: string): ReadonlyArray<Reference> =>
  hasTokens(text) ? Array.from(text.matchAll(token), ([, description]) => read(description!)) : []

/** A JSON text with each token replaced. */
export const replaced = (text: string, textFor: (reference: Reference) => string): string =>
  text.replaceAll(token, (_, description: string) => textFor(read(description)))
