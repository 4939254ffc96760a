/** Extracts the TypeScript programs that Markdown files contain. */
import { readFileSync } from "node:fs"

const blocks = (markdown: string): ReadonlyArray<string> =>
  [...markdown.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program]) => program!)

/** Every TypeScript block of a file. */
export const snippets = (file: string): ReadonlyArray<string> => blocks(readFileSync(file, "utf8"))

/** The first TypeScript block below `heading`. */
export const snippet = (file: string, heading: string): string => {
  const section = readFileSync(file, "utf8")
    .split(/^(?=## )/m)
    .find((text) => text.startsWith(`## ${heading}\n`))
  const [program] = section === undefined ? [] : blocks(section)
  if (program === undefined) throw new Error(`${file} has no TypeScript block below "${heading}".`)
  return program
}
