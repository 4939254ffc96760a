/** A list of patterns whose matches are masked: one regular expression a line. `docs/redact.md` has it for people. */
import { Automaton } from "./Automaton.ts"
import * as Pattern from "./Pattern.ts"
import * as Program from "./Program.ts"

/** A longer list is refused (characters). */
export const maxListCharacters = 256 * 1024

/** What a list is made of; it can be cloned. */
export type PatternList = string

/** A list that was read. */
export type Patterns = Automaton

/** A list that cannot be used. The message says which line, and repeats none. */
export class PatternError extends Error {}

const parsed = (line: string, number: number): Pattern.Pattern => {
  try {
    const pattern = Pattern.parse(line)
    if (new Automaton(Program.of([pattern])).matchesNothing)
      throw new Error("it matches the empty text, which is everywhere")
    return pattern
  } catch (error) {
    throw new PatternError(`line ${number}: ${(error as Error).message}`)
  }
}

/** Reads a list. Throws a `PatternError`. */
export const parse = (list: PatternList): Patterns => {
  if (list.length > maxListCharacters) throw new PatternError(`it has more than ${maxListCharacters} characters`)
  const lines = list.replace(/^\ufeff/, "").split(/\r?\n/)
  const patterns = lines.flatMap((line, index) => {
    const text = line.trim()
    return text === "" || text.startsWith("#") ? [] : [parsed(text, index + 1)]
  })
  if (patterns.length === 0) throw new PatternError("it has no patterns")
  try {
    return new Automaton(Program.of(patterns))
  } catch (error) {
    throw new PatternError(`together, ${(error as Error).message}`)
  }
}
