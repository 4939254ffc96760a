/** `#/search?q=…`: where something was said. Each message counts once: in the call that carried it first. */
import { useLayoutEffect, useRef } from "preact/hooks"
import { useKeys } from "../../keyboard/Keys.ts"
import { useSelection } from "../../keyboard/useSelection.ts"
import { Time } from "../../parts/Facts.tsx"
import { More } from "../../parts/More.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import * as Client from "../../server/Client.ts"
import type { SearchResult } from "../../server/Types.ts"
import { usePages } from "../../server/usePages.ts"
import { Plain } from "../../text/Plain.tsx"

interface Page {
  readonly results: ReadonlyArray<SearchResult>
  readonly next_cursor: string | null
}

const placeOf = ({ event_id, session }: SearchResult): string => Route.to(["sessions", session], { call: event_id })

/** Places in the snippet are in code points. */
const Snippet = ({ result: { hit_end, hit_start, snippet } }: { readonly result: SearchResult }) => {
  const characters = Array.from(snippet)
  const part = (from: number, to?: number) => characters.slice(from, to).join("")
  return (
    <p class="snippet">
      <Plain text={part(0, hit_start)} />
      <mark>
        <Plain text={part(hit_start, hit_end)} />
      </mark>
      <Plain text={part(hit_end)} />
    </p>
  )
}

const Results = ({ words }: { readonly words: string }) => {
  const read = async (cursor: string | null, signal?: AbortSignal) => {
    const page = await Client.get<Page>(["search"], { q: words, limit: 50, cursor }, signal)
    return { rows: page.results, next: page.next_cursor }
  }
  const idOf = ({ event_id, hit_start, role, snippet }: SearchResult) => `${event_id} ${role} ${hit_start} ${snippet}`
  const pages = usePages("search", read, idOf, words)
  const list = useRef<HTMLOListElement>(null)
  const selection = useSelection(pages.rows.length, list, (index) => Route.go(placeOf(pages.rows[index]!)))
  if (pages.error !== undefined && pages.rows.length === 0) return <Failed error={pages.error} again={pages.again} />
  if (pages.rows.length === 0 && pages.isLoading) return <Loading what="what was said" />
  if (pages.rows.length === 0 && !pages.hasMore) return <Empty title="Nobody said this" />
  return (
    <>
      <ol class="results" ref={list}>
        {pages.rows.map((result, index) => (
          <li key={idOf(result)} aria-current={index === selection ? "true" : undefined}>
            <a href={placeOf(result)}>
              <Plain text={result.session} />
            </a>{" "}
            <small>
              <Plain text={result.role} />, first said <Time at={result.at} />
            </small>
            <Snippet result={result} />
          </li>
        ))}
      </ol>
      {pages.hasMore && <More load={pages.more} />}
    </>
  )
}

export const SearchPage = ({ query }: PageProps) => {
  const words = query.get("q") ?? ""
  const field = useRef<HTMLInputElement>(null)
  // Before the page is painted: a person may type at once.
  useLayoutEffect(() => {
    document.title = "Search · Tachograph"
    if (words === "") field.current!.focus()
  }, [])
  useKeys([{ keys: "/", does: "Go to the search field", run: () => field.current!.focus() }])
  return (
    <section class="page">
      <div class="page-head">
        <h1>Search</h1>
      </div>
      <form
        class="search"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          Route.amend({ q: field.current!.value }, "go")
        }}
      >
        <input
          ref={field}
          type="search"
          aria-label="What was said"
          placeholder="What was said, in messages, tools and instructions"
          key={words}
          defaultValue={words}
          maxLength={1_000}
        />
        <button type="submit" class="primary">
          Search
        </button>
      </form>
      {words !== "" && <Results key={words} words={words} />}
    </section>
  )
}
