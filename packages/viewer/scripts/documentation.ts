/** The pages of the documentation, as the viewer serves them: their texts, in the order of README's list, with what that says of each. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { DocsPage } from "../app/pages/docs/Docs.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

const row = /^\| \[`docs\/([\w-]+)\.md`\]\(docs\/\1\.md\) \| (.+) \|$/gm

/** Pages that README leaves out come last. */
export const documentation = (): ReadonlyArray<DocsPage> => {
  const listed = readFileSync(`${root}README.md`, "utf8").matchAll(row)
  const abouts = new Map(Array.from(listed, ([, name, about]) => [name!, about!]))
  const names = readdirSync(`${root}docs`).flatMap((file) => /^(.+)\.md$/.exec(file)?.[1] ?? [])
  const ordered = new Set([...abouts.keys(), ...names.sort()].filter((name) => names.includes(name)))
  return Array.from(ordered, (name) => ({
    name,
    about: abouts.get(name) ?? "",
    text: readFileSync(`${root}docs/${name}.md`, "utf8")
  }))
}
