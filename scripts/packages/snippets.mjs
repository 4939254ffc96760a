/** Programs that are printed in Markdown. */
import { readFileSync } from "node:fs"

/** Every block of TypeScript in a text. */
const blocks = (text) => [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program]) => program)

export const snippets = (file) => blocks(readFileSync(file, "utf8"))

/** The one that is printed first below `heading`. */
export const snippet = (file, heading) => {
  const part = readFileSync(file, "utf8")
    .split(/^(?=## )/m)
    .find((text) => text.startsWith(`## ${heading}\n`))
  const [program] = part === undefined ? [] : blocks(part)
  if (program === undefined) throw new Error(`${file} prints no TypeScript below "${heading}".`)
  return program
}
