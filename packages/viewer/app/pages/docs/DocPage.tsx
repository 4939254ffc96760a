/** `#/docs/NAME`: a page of the documentation. `at` is the anchor of a section. */
import { useEffect, useLayoutEffect } from "preact/hooks"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Scroll from "../../route/Scroll.ts"
import { type DocsPage, sectionsOf, titleOf } from "./Docs.ts"
import { DocsText, idOf, placeOf } from "./DocsText.tsx"
import { useDocs } from "./useDocs.ts"

export const DocPage = ({ query, rest: [name] }: PageProps) => {
  const { again, error, value } = useDocs()
  const page = value?.find((page) => page.name === name)
  useEffect(
    () => void (document.title = `${page === undefined ? "Documentation" : titleOf(page)} · Tachograph`),
    [page]
  )
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the documentation" />
  if (page === undefined) {
    return (
      <Empty title="There is no such page" isWhole>
        <p>
          <a href="#/docs">To all pages of the documentation</a>
        </p>
      </Empty>
    )
  }
  return <Shown page={page} at={query.get("at") ?? ""} />
}

const Shown = ({ at, page }: { readonly page: DocsPage; readonly at: string }) => {
  Scroll.useWindowScroll("docs", true)
  useLayoutEffect(() => {
    // Going back finds the page as it was left.
    if (Scroll.recall("docs") !== undefined) return
    const section = at === "" ? null : document.getElementById(idOf(at))
    if (section === null) scrollTo(0, 0)
    else section.scrollIntoView()
  }, [at])
  const sections = sectionsOf(page).slice(1)
  return (
    <article class="page docs">
      <p class="crumbs">
        <a href="#/docs">All pages, and search</a>
      </p>
      {sections.length > 0 && (
        <details class="docs-contents">
          <summary>On this page</summary>
          <ul>
            {sections.map(({ anchor, title }) => (
              <li key={anchor}>
                <a href={placeOf(page.name, anchor)}>{title}</a>
              </li>
            ))}
          </ul>
        </details>
      )}
      <DocsText page={page} text={page.text} />
    </article>
  )
}
