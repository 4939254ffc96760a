/** The pages of the documentation as texts: their sections, and where words are in them. */

export interface DocsPage {
  /** That of its file: `viewer` for `viewer.md`. */
  readonly name: string
  /** What README says of it, in Markdown. */
  readonly about: string
  /** In Markdown. */
  readonly text: string
}

interface Section {
  readonly title: string
  /** The anchor of its heading. Empty for what stands before the second heading: that is the page itself. */
  readonly anchor: string
  readonly text: string
}

/** A text without the marks of Markdown. */
const unmarked = (text: string): string =>
  text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*|]+|^#+ |^\|?[-| :]+$/gm, " ")
    .replaceAll(/\s+/g, " ")
    .trim()

/** The anchor of a heading, as links of the documentation write it. */
export const anchorOf = (heading: string): string =>
  unmarked(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-")

const heading = /^#{1,6} (.+)$/

/** Its first section has the title of the page. */
export const sectionsOf = ({ text }: DocsPage): ReadonlyArray<Section> => {
  const sections: Array<{ readonly title: string; readonly anchor: string; readonly lines: Array<string> }> = []
  let isCode = false
  for (const line of text.split("\n")) {
    if (line.trimStart().startsWith("```")) isCode = !isCode
    const [, title] = (isCode ? undefined : heading.exec(line)) ?? []
    if (title === undefined) sections.at(-1)?.lines.push(line)
    else sections.push({ title: unmarked(title), anchor: sections.length === 0 ? "" : anchorOf(title), lines: [] })
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join("\n") }))
}

export const titleOf = (page: DocsPage): string => sectionsOf(page)[0]?.title ?? page.name

export interface Hit {
  readonly page: DocsPage
  readonly pageTitle: string
  readonly section: Section
  /** Where the first word is, without marks. */
  readonly excerpt: string
}

export const wordsOf = (query: string): ReadonlyArray<string> => query.toLowerCase().split(/\s+/).filter(Boolean)

/** Characters of an excerpt, and of them before the word. */
const excerptLength = 220
const excerptBefore = 60

const excerptOf = (text: string, words: ReadonlyArray<string>): string => {
  const lower = text.toLowerCase()
  const at = Math.max(
    0,
    ...words
      .map((word) => lower.indexOf(word))
      .filter((found) => found !== -1)
      .slice(0, 1)
  )
  const from = at <= excerptBefore ? 0 : text.indexOf(" ", at - excerptBefore) + 1
  return `${from === 0 ? "" : "… "}${text.slice(from, from + excerptLength)}${from + excerptLength < text.length ? " …" : ""}`
}

/** The sections that have all words: those that have them in their titles first, then in the order of the pages. */
export const find = (pages: ReadonlyArray<DocsPage>, query: string): ReadonlyArray<Hit> => {
  const words = wordsOf(query)
  if (words.length === 0) return []
  const hits = pages.flatMap((page) => {
    const sections = sectionsOf(page)
    const pageTitle = sections[0]?.title ?? page.name
    return sections.flatMap((section, index) => {
      const text = unmarked(section.text)
      const title = `${pageTitle} ${index === 0 ? unmarked(page.about) : section.title}`.toLowerCase()
      const all = `${title} ${text.toLowerCase()}`
      if (!words.every((word) => all.includes(word))) return []
      const rank = words.filter((word) => !title.includes(word)).length
      return [{ rank, hit: { page, pageTitle, section, excerpt: excerptOf(text, words) } }]
    })
  })
  return hits.toSorted((one, other) => one.rank - other.rank).map(({ hit }) => hit)
}
