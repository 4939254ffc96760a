/** Every snippet of docs/embed.md is part of an example, which is compiled and run. */
import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
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

it("every snippet is part of an example", () => {
  const sources = globSync("examples/*/src/*.ts", { cwd: root }).map(file)
  const snippets = blocks("ts")
  expect(snippets.length).toBeGreaterThan(10)
  for (const snippet of snippets) {
    expect(snippet.trim()).not.toBe("")
    expect(
      sources.some((source) => source.includes(snippet)),
      snippet
    ).toBe(true)
  }
})

it("the diff is the one between before.ts and main.ts", () => {
  const [lines] = blocks("diff").map((block) => block.trimEnd().split("\n"))
  const side = (sign: string) =>
    lines!.flatMap((line) => (line.startsWith(sign) || line.startsWith(" ") ? `${line.slice(1)}\n` : [])).join("")
  expect(side("-")).toBe(file("examples/embed-express/src/before.ts"))
  expect(side("+")).toBe(file("examples/embed-express/src/main.ts"))
  expect(lines!.filter((line) => line.startsWith("+"))).toHaveLength(5)
})

it("the table lists the returned name of every api", async () => {
  const rows = Array.from(file("docs/embed.md").matchAll(/^\| (`.*`) \| `(\S+)` \|$/gm), ([, given, answered]) => ({
    given: Array.from(given!.matchAll(/`(\S+?)`/g), ([, name]) => name!),
    answered: answered!
  }))
  const tachograph = await createTachograph({ storage: sqlite(":memory:") })
  const fingerprint_id = await tachograph.fingerprint({ language: "x", language_version: "1", system: "linux" })
  const nameOf = async (api: string) => {
    const properties = { api, inputs: {}, output: {} }
    const { event_id } = await tachograph.record({ event_name: "llm", fingerprint_id, session: "s", properties })
    return (await tachograph.api.getEvent({ event_id })).properties.api
  }
  for (const { answered, given } of rows) {
    for (const name of given) expect(await nameOf(name), name).toBe(answered)
  }
  const { detail } = await nameOf("none").catch((error) => error)
  const all = Array.from(detail[0].ctx.expected.matchAll(/'(\S+?)'/g), (match) => (match as RegExpMatchArray)[1])
  expect(rows.map(({ answered }) => answered).toSorted()).toEqual(all.toSorted())
  await tachograph.close()
})
