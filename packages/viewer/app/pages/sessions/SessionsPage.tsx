/** `#/sessions`: the sessions, the latest first. Filters are in the place; new calls appear while the page is looked at. */
import { useEffect, useRef } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useKeys } from "../../keyboard/Keys.ts"
import { Filters, valuesOf } from "../../parts/Filters.tsx"
import { SoFar } from "../../parts/More.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import * as Sorting from "../../parts/Sorting.tsx"
import { useLazy } from "../../parts/useLazy.ts"
import * as LastList from "../../route/LastList.ts"
import * as Route from "../../route/Route.ts"
import * as Scroll from "../../route/Scroll.ts"
import * as Client from "../../server/Client.ts"
import type { Me, Session } from "../../server/Types.ts"
import { usePages } from "../../server/usePages.ts"
import * as Copy from "../../text/Copy.ts"
import { figureOf } from "./columns.tsx"
import { SessionList } from "./SessionList.tsx"

/** How often the first page is asked for again (ms), while the page is visible. */
const refreshMs = 5_000

const filterNames = ["agent", "agent_version", "person", "model"] as const

const loadFirstMinute = () => import("./FirstMinute.tsx").then(({ FirstMinute }) => FirstMinute)

const sorts = ["last", "cost", "calls", "tokens", "errors", "duration"] as const

const read = (query: Client.Query) => async (cursor: string | null, signal: AbortSignal) => {
  const page = await Client.api.listSessions({ ...Client.given(query), cursor: cursor ?? undefined }, { signal })
  return { rows: page.sessions, next: page.next_cursor }
}

/** Opens the first session when it comes, where a person waits for it. */
const useFirstSession = (isAwaited: boolean, rows: ReadonlyArray<Session>): void => {
  const wasAwaited = useRef(false)
  useEffect(() => {
    const [first, ...others] = rows
    if (wasAwaited.current && first !== undefined && others.length === 0) {
      Copy.announce("The first call is recorded")
      Route.go(Route.to(["sessions", first.session]))
    }
    wasAwaited.current = isAwaited
  }, [isAwaited, rows])
}

export const SessionsPage = ({ me, query }: { readonly me: Me; readonly query: URLSearchParams }) => {
  const filters = valuesOf(query, filterNames)
  const { sort = "last", ...sorted } = Sorting.of(query, (changes) => Route.amend(changes, "go"))
  const sorting = { ...sorted, sort }
  const pages = usePages(
    "sessions",
    {
      read: read({ ...filters, ...Sorting.queryOf(sorting) }),
      idOf: ({ session }: Session) => session,
      orderOf: (session) => figureOf(session, sort)
    },
    JSON.stringify({ ...filters, sort, order: sorting.order }),
    refreshMs
  )
  Scroll.useWindowScroll("sessions", pages.rows.length > 0)
  useKeys([
    {
      keys: "/",
      does: "Go to the filters",
      run: () => document.querySelector<HTMLInputElement>(".filters input")?.focus()
    }
  ])
  useEffect(() => void (document.title = "Sessions · Tachograph"), [])
  useEffect(() => LastList.set(query), [query])
  const isFiltered = Object.values(filters).some(Boolean)
  const isEmpty = pages.rows.length === 0 && !pages.isLoading && pages.error === undefined
  const isAwaited = isEmpty && !pages.hasMore && !isFiltered
  useFirstSession(isAwaited, pages.rows)
  const FirstMinute = useLazy(loadFirstMinute, isAwaited)
  return (
    <section class="sessions" aria-labelledby="sessions-title">
      <div class="page-head">
        <h1 id="sessions-title">Sessions</h1>
        <PageHelp />
        {!isAwaited && (
          <Filters names={filterNames} values={filters} set={(changes) => Route.amend(changes, "go")}>
            <Sorting.SortBy sorting={sorting} sorts={sorts} />
          </Filters>
        )}
      </div>
      {pages.error !== undefined && pages.rows.length === 0 && <Failed error={pages.error} again={pages.again} />}
      {pages.rows.length === 0 && pages.isLoading && <Loading what="sessions" />}
      {isEmpty && pages.hasMore && <SoFar title="Nothing matches so far" pages={pages} />}
      {isEmpty && !pages.hasMore && isFiltered && <NothingMatches />}
      {FirstMinute !== undefined && <FirstMinute me={me} way={query.get("way")} />}
      <SessionList me={me} pages={pages} sorting={sorting} peeked={query.get("peek")} />
    </section>
  )
}

const NothingMatches = () => (
  <Empty title="No session matches">
    <p>
      <a href="#/sessions">Show all sessions</a>
    </p>
  </Empty>
)
