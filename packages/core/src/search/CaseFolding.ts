/**
 * Which characters are alike but for their case: those with the same simple case folding of Unicode, as in a regular expression
 * with the flags `i` and `u`. Each stands for one other, so a folded text has the length of its text.
 */

/** Simple foldings that do not follow from upper and lower case. */
const exceptions: ReadonlyMap<string, string> = new Map([
  // Its upper case is I, but it is not alike i.
  ["ı", "ı"],
  // Equal characters of different code points.
  ["\u1fd3", "\u0390"],
  ["\u1fe3", "\u03b0"],
  ["\ufb05", "\ufb06"]
])

const isOneCharacter = (text: string): boolean => text.length === (text.codePointAt(0)! > 0xffff ? 2 : 1)

/** The character that stands for all that are alike a character. */
const foldCharacter = (character: string): string => {
  const exception = exceptions.get(character)
  if (exception !== undefined) return exception
  const upper = character.toUpperCase()
  const lower = (isOneCharacter(upper) ? upper : character).toLowerCase()
  return isOneCharacter(lower) ? lower : character
}

interface Table {
  /** The characters that folding changes. */
  readonly changed: RegExp
  readonly folded: ReadonlyMap<string, string>
  /** All that are alike, by the character that stands for them. */
  readonly alike: ReadonlyMap<string, ReadonlyArray<string>>
}

/** Beyond it no character has a case. */
const lastCased = 0x1ffff

const isCased = /\p{Changes_When_Casemapped}|\p{Changes_When_Casefolded}/u

let table: Table | undefined

/** Made when it is first asked for, in some milliseconds. */
const tableOf = (): Table => {
  if (table !== undefined) return table
  const folded = new Map<string, string>()
  const alike = new Map<string, Array<string>>()
  for (let codePoint = 0; codePoint <= lastCased; codePoint++) {
    const character = String.fromCodePoint(codePoint)
    if (!isCased.test(character)) continue
    const fold = foldCharacter(character)
    if (fold !== character) folded.set(character, fold)
    const others = alike.get(fold)
    if (others === undefined) alike.set(fold, [character])
    else others.push(character)
  }
  return (table = { changed: new RegExp(`[${[...folded.keys()].join("")}]`, "gu"), folded, alike })
}

const ascii = /^[\0-\x7f]*$/

/** Equal for texts that are alike, and as long as the text. */
export const fold = (text: string): string => {
  if (ascii.test(text)) return text.toLowerCase()
  const { changed, folded } = tableOf()
  return text.replace(changed, (character) => folded.get(character)!)
}

/** A character and all that are alike. */
export const alike = (character: string): ReadonlyArray<string> => {
  const all = tableOf().alike.get(foldCharacter(character))
  return all === undefined ? [character] : all
}
