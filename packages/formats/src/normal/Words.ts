/** A text as the words and marks that a comparison finds the same or different, which together are the text. */

/** Letters that are words of their own. */
const single = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}"

const letter = `(?:(?![${single}])[\\p{L}\\p{N}\\p{M}_])`

/** Words, of which `claude-sonnet-4-5`, `1.4.2` and `a/b.ts` are one each; blanks; and all else by its characters. */
const pattern = new RegExp(`${letter}+(?:[-.:/@'’]${letter}+)*|\\s+|[^]`, "gu")

export const wordsOf = (text: string): Array<string> => text.match(pattern) ?? []
