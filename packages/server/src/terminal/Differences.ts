/** What differs between two texts, for people to read. */
import { wordsOf } from "@tachograph/formats/normal/Words"
import { diffArrays, structuredPatch } from "diff"
import * as Indented from "./Indented.ts"
import * as Style from "./Style.ts"
import * as Table from "./Table.ts"

/** Lines, and characters, around a difference that are printed. */
const context = 3
const contextCharacters = 40

/** Characters at the beginning and at the end of what went or came that are printed. */
const changedCharacters = 200

/** Words that may differ: comparing more takes time with the square of their number. */
const maxEdits = 1_000

const painted = (line: string): string => {
  const printed = line.slice(0, 1) + Table.printable(line.slice(1))
  if (line === "…") return Style.dim(line)
  if (line.startsWith("-")) return Style.red(printed)
  return line.startsWith("+") ? Style.green(printed) : printed
}

/** The lines that differ, after `-` and `+`, with some around them. Empty where the texts are equal. */
const linesOf = (from: string, to: string): ReadonlyArray<string> => {
  const [before, after] = [from, to].map((text) => (text === "" ? "" : `${text}\n`))
  const { hunks } = structuredPatch("", "", before!, after!, undefined, undefined, { context })
  return hunks.flatMap(({ lines }, index) => (index === 0 ? lines : ["…", ...lines]))
}

/** A text without its middle, where it is longer. */
const ends = (text: string, head: number, tail: number): string => {
  const characters = Array.from(text)
  if (characters.length <= head + tail + 1) return text
  return `${characters.slice(0, head).join("")}…${tail === 0 ? "" : characters.slice(-tail).join("")}`
}

const changed = (text: string): string => ends(text, changedCharacters, changedCharacters)

/**
 * The words that differ, `[-taken away-]` and `{+added+}`, with some text around them, each cut in its middle, as texts that may have several lines. Those that differ
 * in too many words are compared by lines.
 */
export const words = (from: string, to: string): ReadonlyArray<string> => {
  const changes = diffArrays(wordsOf(from), wordsOf(to), { maxEditLength: maxEdits })
  if (changes === undefined) return linesOf(from, to)
  const last = changes.length - 1
  return [
    changes
      .map(({ added, removed, value }, index) => {
        const text = value.join("")
        if (removed) return `[-${changed(text)}-]`
        if (added) return `{+${changed(text)}+}`
        // Nothing is before the first one, and after the last one.
        return ends(text, index === 0 ? 0 : contextCharacters, index === last ? 0 : contextCharacters)
      })
      .join("")
  ]
}

/** What is called so in both: that it is the same, or below its name what differs, by lines, or by words as texts of messages. */
export const section = (name: string, from: string, to: string, isByWords = false): ReadonlyArray<string> => {
  if (from === to) return [Style.dim(`${name}: the same`)]
  return [Style.bold(name), ...(isByWords ? words(from, to).map(Indented.of) : linesOf(from, to).map(painted))]
}
