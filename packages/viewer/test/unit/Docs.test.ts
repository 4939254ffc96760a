import { readdirSync } from "node:fs"
import { Lexer, type Token, type Tokens } from "marked"
import { expect, it } from "vitest"
import { anchorOf, type DocsPage, find, sectionsOf } from "../../app/pages/docs/Docs.ts"
import { documentation } from "../../scripts/documentation.ts"

const pages = documentation()

const root = new URL("../../../../", import.meta.url)

const linksIn = (tokens: ReadonlyArray<Token>): ReadonlyArray<string> => {
  const links: Array<string> = []
  const walk = (token: Token) => {
    if (token.type === "link") links.push((token as Tokens.Link).href)
    const { header, items, rows, tokens } = token as Tokens.Generic
    for (const each of [tokens, items, header, rows].filter(Array.isArray).flat(2)) walk(each as Token)
  }
  for (const token of tokens) walk(token)
  return links
}

it("are all pages of the documentation, each with what README says of it", () => {
  expect(pages.map(({ name }) => name).toSorted()).toEqual(
    readdirSync(new URL("docs", root)).flatMap((file) => /^(.+)\.md$/.exec(file)?.[1] ?? [])
  )
  for (const { about, name } of pages) expect([name, about]).not.toEqual([name, ""])
})

it("lead to pages and sections that there are", () => {
  const anchors = new Map(pages.map((page) => [page.name, sectionsOf(page).map(({ anchor }) => anchor)]))
  for (const { name, text } of pages) {
    const links = linksIn(new Lexer({ gfm: true }).lex(text))
    for (const href of links) {
      const [, other = name, anchor = ""] = /^(?:([\w-]+)\.md)?(?:#(.+))?$/.exec(href) ?? [undefined, "viewer"]
      expect([name, href, anchors.get(other)]).toEqual([name, href, expect.arrayContaining([anchor])])
    }
  }
})

it.each([
  ["Sessions, agents and people", "sessions-agents-and-people"],
  ["`serve --proxy` and [`authorize`](embed.md#authorize)", "serve---proxy-and-authorize"],
  ["Über 30 MB", "über-30-mb"]
])("have the anchor that links write for %j", (heading, anchor) => {
  expect(anchorOf(heading)).toBe(anchor)
})

const page = (name: string, text: string): DocsPage => ({ name, about: `About ${name}`, text })

it("are found by all words of a section, those with a word in their titles first", () => {
  const some = [
    page("one", "# One\n\nA key and a door.\n\n## Doors\n\nA `key` opens them.\n\n```sh\n# no heading: key door\n```"),
    page("two", "# Keys\n\nOf a [door](one.md#doors)."),
    page("three", "# Three\n\nA key.\n\n## Another\n\nA door.")
  ]
  const found = find(some, " DOOR key ").map(({ excerpt, page, section }) => [page.name, section.anchor, excerpt])
  expect(found).toEqual([
    ["one", "doors", "A key opens them. sh no heading: key door"],
    ["two", "", "Of a door."],
    ["one", "", "A key and a door."]
  ])
  expect(find(some, " ")).toEqual([])
})
