/** `#/docs`: the pages of the documentation, and a search in all of them. */
import { useEffect } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useKeys } from "../../keyboard/Keys.ts"
import { Failed, Loading } from "../../parts/States.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import { type DocsPage as Page, find, type Hit, titleOf, wordsOf } from "./Docs.ts"
import { DocsText, placeOf } from "./DocsText.tsx"
import { useDocs } from "./useDocs.ts"

/** Sections that are shown of those that were found. */
const maxShown = 40

export const DocsPage = ({ query }: PageProps) => {
  const { again, error, value } = useDocs()
  const q = query.get("q") ?? ""
  useEffect(() => void (document.title = "Documentation · Tachograph"), [])
  useKeys([
    {
      keys: "/",
      does: "Go to the search in the documentation",
      run: () => document.querySelector<HTMLInputElement>("#docs-search")?.focus()
    }
  ])
  return (
    <section class="page docs">
      <div class="page-head">
        <h1>Documentation</h1>
        <PageHelp />
        <p>
          <a href="#/record">Record a program</a> · <a href="../docs">The HTTP API, operation by operation</a>
        </p>
      </div>
      <label class="docs-search">
        <span>Search in all pages</span>
        <input
          id="docs-search"
          type="search"
          spellcheck={false}
          autocomplete="off"
          value={q}
          onInput={({ currentTarget }) => Route.amend({ q: currentTarget.value })}
        />
      </label>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="the documentation" />}
      {value !== undefined && (q.trim() === "" ? <List pages={value} /> : <Found q={q} hits={find(value, q)} />)}
    </section>
  )
}

const List = ({ pages }: { readonly pages: ReadonlyArray<Page> }) => (
  <ul class="docs-list">
    {pages.map((page) => (
      <li key={page.name}>
        <a href={placeOf(page.name)}>{titleOf(page)}</a>
        <DocsText page={page} text={page.about} />
      </li>
    ))}
  </ul>
)

const Found = ({ hits, q }: { readonly q: string; readonly hits: ReadonlyArray<Hit> }) => {
  const words = wordsOf(q)
  return (
    <>
      <p class="hint" role="status">
        {hits.length === 0 ? "Nothing found: every word must be in one section." : `${Format.count(hits.length)} found`}
        {hits.length > maxShown && `, the first ${maxShown} are shown`}
      </p>
      <ul class="docs-list">
        {hits.slice(0, maxShown).map(({ excerpt, page, pageTitle, section }) => (
          <li key={`${page.name} ${section.anchor}`}>
            <a href={placeOf(page.name, section.anchor)}>
              {section.anchor === "" ? pageTitle : `${pageTitle}: ${section.title}`}
            </a>
            <p>
              <Marked text={excerpt} words={words} />
            </p>
          </li>
        ))}
      </ul>
    </>
  )
}

const Marked = ({ text, words }: { readonly text: string; readonly words: ReadonlyArray<string> }) => {
  const pattern = new RegExp(`(${words.map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, "\\$&")).join("|")})`, "i")
  return text
    .split(pattern)
    .map((part, index) => (index % 2 === 1 ? <Plain as="mark" text={part} /> : <Plain text={part} />))
}
