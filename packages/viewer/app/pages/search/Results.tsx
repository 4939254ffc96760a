/** The hits of a search, as they are found. */
import { useMemo, useRef } from "preact/hooks"
import { useKeys } from "../../keyboard/Keys.ts"
import { useSelection } from "../../keyboard/useSelection.ts"
import { Time } from "../../parts/Facts.tsx"
import { Link } from "../../parts/Link.tsx"
import { Empty, Failed } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import type { SearchResult } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import { idOf, type Query, useSearch } from "./useSearch.ts"

const placeOf = ({ event_id, session }: SearchResult): string => Route.to(["sessions", session], { call: event_id })

/** Places in the snippet are in code points. */
const Snippet = ({ result: { hit_end, hit_start, snippet } }: { readonly result: SearchResult }) => {
  const characters = Array.from(snippet)
  const part = (from: number, to?: number) => characters.slice(from, to).join("")
  return (
    <p class="snippet">
      <Plain text={part(0, hit_start)} />
      <Plain as="mark" text={part(hit_start, hit_end)} />
      <Plain text={part(hit_end)} />
    </p>
  )
}

export const Results = ({ query }: { readonly query: Query }) => {
  const { cursor, damaged, error, isSearching, more, results, stop } = useSearch(query)
  const rows = useMemo(() => Array.from(new Map(results.map((result) => [idOf(result), result])).values()), [results])
  const list = useRef<HTMLOListElement>(null)
  const selection = useSelection(rows.map(idOf), list, (index) => Route.go(placeOf(rows[index]!)))
  useKeys([{ keys: "Escape", does: "Stop the search", run: () => isSearching && stop() }])
  if (error !== undefined && rows.length === 0) return <Failed error={error} again={more} />
  const isDone = !isSearching && cursor === null
  if (isDone && rows.length === 0) {
    return (
      <Empty title="Nobody said this">
        <Unread damaged={damaged} />
      </Empty>
    )
  }
  return (
    <>
      <ol class="results" ref={list}>
        {rows.map((result, index) => (
          <li key={idOf(result)} aria-current={index === selection ? "true" : undefined}>
            <Link to={placeOf(result)} text={result.session} /> <Plain as="small" text={result.role} />, first said{" "}
            <Time at={result.at} />
            <Snippet result={result} />
          </li>
        ))}
      </ol>
      <div class="search-end">
        <p class="hint" role="status">
          {Format.count(rows.length)} {rows.length === 1 ? "hit" : "hits"}
          {isSearching && ", searching…"}
          {isDone && ", all there are"}
        </p>
        <Unread damaged={damaged} />
        {isSearching && (
          <button type="button" onClick={stop}>
            Stop
          </button>
        )}
        {!isSearching && cursor !== null && (
          <button type="button" onClick={more}>
            Search on
          </button>
        )}
      </div>
      {error !== undefined && <Failed error={error} again={more} />}
    </>
  )
}

const Unread = ({ damaged }: { readonly damaged: number }) =>
  damaged === 0 ? null : (
    <p class="warn">
      {Format.count(damaged)} {damaged === 1 ? "call" : "calls"} could not be searched: they are damaged
    </p>
  )
