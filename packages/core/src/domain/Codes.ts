/** Words that storages keep as numbers. A number belongs to its word for ever: what is stored is read by it. */
export type Codes<Word extends string> = Readonly<Record<Word, number>>

/** The words, in the order of their numbers. */
export const wordsOf = <Word extends string>(codes: Codes<Word>): ReadonlyArray<Word> =>
  (Object.keys(codes) as Array<Word>).sort((a, b) => codes[a] - codes[b])

/** The word of a number; undefined for a number of none. */
export const reader = <Word extends string>(codes: Codes<Word>): ((code: number) => Word | undefined) => {
  const words = new Map(wordsOf(codes).map((word) => [codes[word], word]))
  return (code) => words.get(code)
}
