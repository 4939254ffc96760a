/** Markdown of the documentation, whose links lead to its other pages and their sections. */
import { useMemo } from "preact/hooks"
import * as Route from "../../route/Route.ts"
import { Markdown } from "../../text/Markdown.tsx"
import { anchorOf, type DocsPage } from "./Docs.ts"

export const placeOf = (name: string, anchor = ""): string => Route.to(["docs", name], { at: anchor })

/** The id of a heading's element: no other part of the page has one that begins so. */
export const idOf = (anchor: string): string => `docs-${anchor}`

const link = /^(?:([\w-]+)\.md)?(?:#(.+))?$/

/** Where a link leads; undefined where what it names is not served. */
const linkOf = (name: string, href: string): string | undefined => {
  if (/^https?:/.test(href)) return href
  if (href === "../openapi.json") return href
  if (href.startsWith("../README.md")) return Route.to(["docs"])
  const [, other = name, anchor] = link.exec(href) ?? [undefined, undefined]
  return link.test(href) ? placeOf(other, anchor) : undefined
}

export const DocsText = ({ page: { name }, text }: { readonly page: DocsPage; readonly text: string }) => {
  const reference = useMemo(
    () => ({ linkOf: (href: string) => linkOf(name, href), idOf: (heading: string) => idOf(anchorOf(heading)) }),
    [name]
  )
  return <Markdown text={text} reference={reference} />
}
