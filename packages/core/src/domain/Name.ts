/**
 * The rule that all names share: 1 to 255 code points of any Unicode but U+0000 and lone surrogates, neither of which
 * every database can hold. A name is never trimmed and never case-folded.
 */
import { Schema } from "effect"
import * as Violation from "./Violation.ts"

/** Code points. Short enough for a key of any database, long enough for a URL or a file's path. */
export const maxNameLength = 255

const violationOf = (minimum: number) => (name: string) => {
  if (name.length < minimum) {
    return { type: "string_too_short", msg: "String should have at least 1 character", ctx: { min_length: 1 } }
  }
  if (!name.isWellFormed()) return Violation.valueError("names cannot hold lone surrogates")
  if (name.includes("\u0000")) return Violation.valueError("names cannot hold the character U+0000")
  // A code point takes at most two UTF-16 units, so most names need no count.
  if (name.length > maxNameLength && Array.from(name).length > maxNameLength) {
    return {
      type: "string_too_long",
      msg: `String should have at most ${maxNameLength} characters`,
      ctx: { max_length: maxNameLength }
    }
  }
  return undefined
}

export const Name = Schema.String.check(
  Violation.check(violationOf(1), {
    expected: "a name of 1 to 255 characters",
    toJsonSchema: () => ({ minLength: 1, maxLength: maxNameLength })
  })
).annotate({ description: "1 to 255 characters of any Unicode, except U+0000 and lone surrogates" })

/** A name that may be empty, for the one place where the interface gives emptiness an error of its own. */
export const NameOrEmpty = Schema.String.check(
  Violation.check(violationOf(0), { expected: "a name of at most 255 characters" })
)
