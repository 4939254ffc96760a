/** The snippets of docs/embed.md stand in the examples, which are compiled and run. */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const file = (path: string) => readFileSync(root + path, "utf8")

const blocks = (language: string) =>
  Array.from(
    file("docs/embed.md").matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms")),
    (match) => match[1]!
  )

it("has snippets of the examples only", () => {
  const sources = globSync("examples/*/src/*.ts", { cwd: root }).map(file)
  const snippets = blocks("ts")
  expect(snippets.length).toBeGreaterThan(10)
  for (const snippet of snippets)
    expect(
      sources.some((source) => source.includes(snippet)),
      snippet
    ).toBe(true)
})

it("shows what an application of its own becomes", () => {
  const [lines] = blocks("diff").map((block) => block.trimEnd().split("\n"))
  const side = (sign: string) =>
    lines!.flatMap((line) => (line.startsWith(sign) || line.startsWith(" ") ? `${line.slice(1)}\n` : [])).join("")
  expect(side("-")).toBe(file("examples/embed-express/src/before.ts"))
  expect(side("+")).toBe(file("examples/embed-express/src/main.ts"))
  expect(lines!.filter((line) => line.startsWith("+"))).toHaveLength(5)
})
