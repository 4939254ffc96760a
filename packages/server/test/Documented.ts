import { readFileSync } from "node:fs"

const page = (file: string) => readFileSync(new URL(`../../../docs/${file}`, import.meta.url), "utf8")

/** The SQL statements in a page of the documentation that begin with `keyword`. */
export const statements = (file: string, keyword: string): ReadonlyArray<string> =>
  page(file)
    .split("\n")
    .filter((line) => line.startsWith(`${keyword} `))
    .map((line) => line.replace(/;$/, ""))

/** What stands first in the rows of the tables in a section, between backticks. */
export const firstCells = (file: string, section: string): ReadonlyArray<string> => {
  const text = page(file).split(`\n${section}\n`)[1]!.split(/^#/m)[0]!
  return Array.from(text.matchAll(/^\| `([^`]+)`/gm), ([, cell]) => cell!)
}

/** The blocks of a language in a page, or in one of its sections with what is below that. */
export const blocks = (file: string, language: string, section?: string): ReadonlyArray<string> => {
  const text = section === undefined ? page(file) : page(file).split(`\n${section}\n`)[1]!.split(/^## /m)[0]!
  return Array.from(text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms")), (match) => match[1]!)
}
