/**
 * The rule for all names: 1 to 255 Unicode code points without U+0000 and lone surrogates, which some databases cannot
 * store, and neither `.` nor `..`, which no URL can hold. Names are not trimmed and not case-folded.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
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

/** The rule for other texts that are as long, and for names that were stored. */
export const nameCheck = Violation.check(violationOf(1), {
  expected: "a name of 1 to 255 characters",
  toJsonSchema: () => ({ minLength: 1, maxLength: maxNameLength })
})

const stepOfPath = Violation.valueError("names cannot be . or .., which no URL can hold")

/**
 * Refuses what clients leave out of the path of a URL, also where its dots are escaped: what has this name could not be asked for. Only where
 * a name comes in: answers name what an earlier version stored.
 */
const refusingSteps = {
  decode: SchemaGetter.checkEffect<string>((name, options) =>
    Effect.succeed(name === "." || name === ".." ? Violation.issue(stepOfPath, name, options) : true)
  ),
  encode: SchemaGetter.passthrough<string>()
}

const stored = Schema.String.check(nameCheck).annotate({
  description: "1 to 255 characters of any Unicode, except U+0000 and lone surrogates; neither . nor .."
})

export const Name = stored.pipe(Schema.decodeTo(stored, refusingSteps))

const storedOrEmpty = Schema.String.check(
  Violation.check(violationOf(0), { expected: "a name of at most 255 characters" })
)

/** A name that may be empty, for session ids: the interface has a separate error for an empty one. */
export const NameOrEmpty = storedOrEmpty.pipe(Schema.decodeTo(storedOrEmpty, refusingSteps))
