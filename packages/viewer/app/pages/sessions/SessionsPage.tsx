/** `#/sessions`: the sessions, the latest first. Filters are in the place; new calls appear while the page is looked at. */
import { useEffect, useRef, useState } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useKeys } from "../../keyboard/Keys.ts"
import { useSelection } from "../../keyboard/useSelection.ts"
import { Outdated } from "../../parts/Banner.tsx"
import { SumNote } from "../../parts/Costs.tsx"
import { Filters, valuesOf } from "../../parts/Filters.tsx"
import { More, SoFar } from "../../parts/More.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import * as Sorting from "../../parts/Sorting.tsx"
import { PlainTable } from "../../parts/Table.tsx"
import { useLazy } from "../../parts/useLazy.ts"
import * as LastList from "../../route/LastList.ts"
import * as Route from "../../route/Route.ts"
import * as Scroll from "../../route/Scroll.ts"
import * as Client from "../../server/Client.ts"
import type { Me, Session } from "../../server/Types.ts"
import { usePages } from "../../server/usePages.ts"
import * as Copy from "../../text/Copy.ts"
import { columnsOf, figureOf } from "./columns.tsx"
import { useChosen } from "./useChosen.tsx"

/** How often the first page is asked for again (ms), while the page is visible. */
const refreshMs = 5_000

const filterNames = ["agent", "agent_version", "person", "model"] as const

const loadFirstMinute = () => import("./FirstMinute.tsx").then(({ FirstMinute }) => FirstMinute)

const loadBulk = () => import("./Bulk.tsx").then(({ Bulk }) => Bulk)

const loadPeek = () => import("./SessionPeek.tsx").then(({ SessionPeek }) => SessionPeek)

const peek = (session: string | null) => Route.amend({ peek: session })

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
  const peeked = query.get("peek")
  const SessionPeek = useLazy(loadPeek, peeked !== null)
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
  const list = useRef<HTMLTableSectionElement>(null)
  const selection = useSelection(
    pages.rows.map(({ session }) => session),
    list,
    (index) => Route.go(Route.to(["sessions", pages.rows[index]!.session])),
    (index) => peek(pages.rows[index]!.session)
  )
  const chosen = useChosen(pages.rows, selection)
  const Bulk = useLazy(loadBulk, chosen.everChosen)
  // What is looked at follows the selection.
  useEffect(() => {
    const row = pages.rows[selection]
    if (peeked !== null && row !== undefined) peek(row.session)
  }, [selection])
  const now = useNow()
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
        {!isAwaited && <Filters names={filterNames} values={filters} set={(changes) => Route.amend(changes, "go")} />}
        {!isAwaited && <Sorting.SortBy sorting={sorting} sorts={sorts} />}
      </div>
      {pages.error !== undefined && pages.rows.length === 0 && <Failed error={pages.error} again={pages.again} />}
      {pages.rows.length === 0 && pages.isLoading && <Loading what="sessions" />}
      {isEmpty && pages.hasMore && <SoFar title="Nothing matches so far" pages={pages} />}
      {isEmpty && !pages.hasMore && isFiltered && <NothingMatches />}
      {FirstMinute !== undefined && <FirstMinute me={me} way={query.get("way")} />}
      {pages.rows.length > 0 && (
        <>
          {pages.error !== undefined && <Outdated error={pages.error} />}
          <PlainTable
            columns={[chosen.column, ...columnsOf(now, (session) => peek(peeked === session ? null : session))]}
            rows={pages.rows}
            keyOf={({ session }) => session}
            list={list}
            selection={selection}
            sorting={sorting}
          />
          <SumNote of={pages.rows} />
          <More pages={pages} />
        </>
      )}
      {Bulk !== undefined && <Bulk me={me} chosen={chosen} shown={pages.rows.length} remove={pages.remove} />}
      {peeked !== null && SessionPeek !== undefined && (
        <SessionPeek key={peeked} id={peeked} close={() => peek(null)} />
      )}
    </section>
  )
}

/** The clock of the live dots. */
const useNow = (): number => {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), refreshMs)
    return () => clearInterval(timer)
  }, [])
  return now
}

const NothingMatches = () => (
  <Empty title="No session matches">
    <p>
      <a href="#/sessions">Show all sessions</a>
    </p>
  </Empty>
)
