/**
 * Characters of a stranger's text that a person would not see: controls, characters that reorder text, and those that have no shape of
 * their own. Where they belong to what is seen, an emoji or the spelling of a script, they are ordinary.
 */

/** CSI sequences (ECMA-48), such as colours of terminals. Other sequences of terminals hold texts, and are shown. */
// oxlint-disable-next-line no-control-regex
const csi = /\u001b\[[0-9;:?]{0,64}[A-Za-z]/g

/** Without the colours and movements of a terminal. */
export const withoutCsi = (text: string): string => (text.includes("\u001b") ? text.replace(csi, "") : text)

/** Controls, default ignorable code points (Unicode), fillers and blanks that look like nothing. */
const invisible =
  "[[\\p{Cc}--[\\t\\n\\r]]\\p{Default_Ignorable_Code_Point}\\u{2028}\\u{2029}\\u{2800}\\u{fff9}-\\u{fffb}]"

/** Scripts whose letters join differently around U+200C and U+200D. */
const joining = [
  ...["Arab", "Syrc", "Nkoo", "Mong", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym", "Sinh"],
  ...["Khmr", "Mymr", "Tibt", "Adlm", "Rohg", "Thai", "Laoo", "Java", "Bali"]
].map((script) => `\\p{Script=${script}}`)

/** An emoji of one person or thing, of which several make one with U+200D between them. */
const pictograph = "\\p{Extended_Pictographic}[\\u{fe0e}\\u{fe0f}]?\\p{Emoji_Modifier}?"

/** Invisible characters with the visible ones that they belong to. */
const ordinary = [
  // The flags of England, Scotland and Wales end with their names in tag characters.
  "\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}",
  `${pictograph}(?:\\u{200d}${pictograph})*`,
  "[0-9#*]\\u{fe0f}\\u{20e3}",
  // Forms of ideographs, as names need them.
  "\\p{Script=Han}[\\u{fe00}-\\u{fe02}\\u{e0100}-\\u{e01ef}]",
  "\\p{Script=Mongolian}[\\u{180b}-\\u{180f}]",
  `[[${joining.join("")}]&&[\\p{L}\\p{M}]][\\u{200c}\\u{200d}]`
]

const anyInvisible = new RegExp(invisible, "v")
const pieces = new RegExp(`${ordinary.join("|")}|(${invisible}+)`, "gv")

/** Invisible characters in a row that are named; of more their number is said. */
const maxNamed = 24

const nameOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`

const namesOf = (run: string): string => {
  const characters = Array.from(run)
  const names = characters.slice(0, maxNamed).map(nameOf).join(" ")
  return characters.length > maxNamed ? `${names} and ${characters.length - maxNamed} more` : names
}

export interface Piece {
  readonly text: string
  /** Whether `text` names characters that would not be seen. */
  readonly isNamed: boolean
}

/** A text as what is seen of it, and the names of what is not. */
export const piecesOf = (given: string): ReadonlyArray<Piece> => {
  const text = withoutCsi(given)
  if (!anyInvisible.test(text)) return [{ text, isNamed: false }]
  const found: Array<Piece> = []
  let from = 0
  for (const { 1: run, index } of text.matchAll(pieces)) {
    if (run === undefined) continue
    if (index > from) found.push({ text: text.slice(from, index), isNamed: false })
    found.push({ text: namesOf(run), isNamed: true })
    from = index + run.length
  }
  if (from < text.length) found.push({ text: text.slice(from), isNamed: false })
  return found
}

/** The same as one text, for titles and other places that hold no elements. */
export const plain = (text: string): string =>
  piecesOf(text)
    .map((piece) => (piece.isNamed ? `[${piece.text}]` : piece.text))
    .join("")
