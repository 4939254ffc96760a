/**
 * The rule for all names: 1 to 255 Unicode code points without U+0000 and lone surrogates, which some databases cannot
 * store, and neither `.` nor `..`, which no URL can hold. Names are not trimmed and not case-folded.
 */
import * as Schema from "effect/Schema"
import * as Violation from "./Violation.ts"

/** In code points. Short enough for an index key in any database, long enough for a URL or a file path. */
export const maxNameLength = 255

/** In UTF-16 units, of which a code point has at most two: a longer name is refused without looking at it. */
const maxNameUnits = 2 * maxNameLength

const tooLong: Violation.Violation = {
  type: "string_too_long",
  msg: `String should have at most ${maxNameLength} characters`,
  ctx: { max_length: maxNameLength }
}

const violationOf = (minimum: number) => (name: string) => {
  if (name.length < minimum) {
    return { type: "string_too_short", msg: "String should have at least 1 character", ctx: { min_length: 1 } }
  }
  if (name.length > maxNameUnits) return tooLong
  if (!name.isWellFormed()) return Violation.valueError("names cannot hold lone surrogates")
  if (name.includes("\u0000")) return Violation.valueError("names cannot hold the character U+0000")
  // Code points are counted only if there are more UTF-16 units than allowed code points.
  return name.length > maxNameLength && Array.from(name).length > maxNameLength ? tooLong : undefined
}

/** Clients leave such parts of a path out of a URL, also where their dots are escaped: what has this name could not be asked for. */
const isStepOfPath = (name: string): boolean => name === "." || name === ".."

const violationOfName = (minimum: number) => {
  const violation = violationOf(minimum)
  return (name: string) =>
    isStepOfPath(name) ? Violation.valueError("names cannot be . or .., which no URL can hold") : violation(name)
}

/** The rule for other texts that are as long. */
export const nameCheck = Violation.check(violationOf(1), {
  expected: "a name of 1 to 255 characters",
  toJsonSchema: () => ({ minLength: 1, maxLength: maxNameLength })
})

export const Name = Schema.String.check(
  Violation.check(violationOfName(1), {
    expected: "a name of 1 to 255 characters",
    toJsonSchema: () => ({ minLength: 1, maxLength: maxNameLength })
  })
).annotate({
  description: "1 to 255 characters of any Unicode, except U+0000 and lone surrogates; neither . nor .."
})

/** A name that may be empty, for session ids: the interface has a separate error for an empty one. */
export const NameOrEmpty = Schema.String.check(
  Violation.check(violationOfName(0), { expected: "a name of at most 255 characters" })
)
