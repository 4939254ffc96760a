/** Texts in lines of their own, below what they belong to. */
import * as Table from "./Table.ts"

export const indent = "    "

export const of = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => (indent + Table.printable(line.replaceAll("\t", "  "))).trimEnd())
    .join("\n")
