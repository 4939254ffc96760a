/** The sessions of a search, as they are found, each with its newest hit. The others are shown where they are asked for. */
import { useRef, useState } from "preact/hooks"
import { useKeys } from "../../keyboard/Keys.ts"
import { useSelection } from "../../keyboard/useSelection.ts"
import { Empty, Failed } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import type { SearchedSession } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Hit, placeOf } from "./Hit.tsx"
import { hits, type Query, type Search, sessions, useSearch } from "./useSearch.ts"

interface EndProps {
  readonly of: Search<unknown>
  /** What was found so far. */
  readonly found: string
}

const End = ({ found, of: { cursor, damaged, error, isSearching, more, stop } }: EndProps) => (
  <>
    <div class="search-end">
      <p class="hint" role="status">
        {found}
        {isSearching && ", searching…"}
        {!isSearching && (cursor === null ? ", all there are" : " so far")}
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

/** All hits of a session, the newest first. */
const Hits = ({ query }: { readonly query: Query }) => {
  const search = useSearch(hits, query)
  return (
    <div class="hits">
      <ol>
        {search.rows.map((hit, index) => (
          <li key={index}>
            <Hit hit={hit} title="The call" />
          </li>
        ))}
      </ol>
      <End of={search} found={Format.counted(search.rows.length, "hit")} />
    </div>
  )
}

const Row = ({ found, query }: { readonly found: SearchedSession; readonly query: Query }) => {
  const [isOpen, setOpen] = useState(false)
  const count = Format.counted(found.hits, "hit")
  return (
    <>
      {found.hits === 1 ? (
        <span class="count">{count}</span>
      ) : (
        <button type="button" class="quiet count" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {count}
        </button>
      )}
      <Hit hit={found} title={found.session} />
      {isOpen && <Hits query={{ ...query, session: found.session }} />}
    </>
  )
}

export const Results = ({ query }: { readonly query: Query }) => {
  const search = useSearch(sessions, query)
  const { cursor, damaged, error, isSearching, more, rows, stop } = search
  const list = useRef<HTMLOListElement>(null)
  const selection = useSelection(
    rows.map(({ session }) => session),
    list,
    (index) => Route.go(placeOf(rows[index]!))
  )
  useKeys([{ keys: "Escape", does: "Stop the search", run: () => isSearching && stop() }])
  if (error !== undefined && rows.length === 0) return <Failed error={error} again={more} />
  if (!isSearching && cursor === null && rows.length === 0) {
    return (
      <Empty title="Nobody said this">
        {query.role === undefined && (
          <p>
            <a href={Route.to(["search"], { ...Object.fromEntries(Route.current().query), role: "any" })}>
              Search instructions too
            </a>
          </p>
        )}
        <Unread damaged={damaged} />
      </Empty>
    )
  }
  const all = rows.reduce((sum, { hits }) => sum + hits, 0)
  return (
    <>
      <ol class="results" ref={list}>
        {rows.map((found, index) => (
          <li key={found.session} aria-current={index === selection ? "true" : undefined}>
            <Row found={found} query={query} />
          </li>
        ))}
      </ol>
      <End of={search} found={`${Format.counted(all, "hit")} in ${Format.counted(rows.length, "session")}`} />
    </>
  )
}

const Unread = ({ damaged }: { readonly damaged: number }) =>
  damaged === 0 ? null : (
    <p class="warn">
      {Format.count(damaged)} {damaged === 1 ? "call" : "calls"} could not be searched: they are damaged
    </p>
  )
