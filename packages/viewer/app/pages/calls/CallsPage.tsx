/** `#/calls`: the calls of all sessions, the one that was recorded last first, or sorted; or those that were tried again. Filters are in the place. */
import { useEffect, useRef } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useSelection } from "../../keyboard/useSelection.ts"
import { callColumnsOf } from "../../parts/CallColumns.tsx"
import { Filters, namesOf, namesOfCalls, valuesOf } from "../../parts/Filters.tsx"
import { More, SoFar } from "../../parts/More.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import * as Sorting from "../../parts/Sorting.tsx"
import { Table } from "../../parts/Table.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import * as Client from "../../server/Client.ts"
import * as Events from "../../server/Events.ts"
import type { ListedEvent } from "../../server/Types.ts"
import { type Pages, usePages } from "../../server/usePages.ts"
import { Plain } from "../../text/Plain.tsx"

const sorts = ["last", "duration", "cost", "tokens"] as const

const pageRows = 100

const idOf = ({ event_id }: ListedEvent) => event_id

const placeOf = (id: string) => Route.to(["events", id])

const columns = callColumnsOf({
  toCall: ({ event_id }) => placeOf(event_id),
  toSession: ({ event_id, session }) => Route.to(["sessions", session], { call: event_id })
})

export const CallsPage = ({ query }: PageProps) => {
  const filterNames = namesOfCalls(query)
  const values = valuesOf(query, filterNames)
  const filters = { ...values, ...namesOf(query, ["failure", "retried"]) }
  const isRetried = filters["retried"] === "true"
  const { sort: named = "last", ...sorted } = Sorting.of(query, (changes) => Route.amend(changes, "go"))
  const sort = isRetried ? "last" : named
  // The list in the order of recording has the latest first only.
  const isOneWay = sort === "last"
  const order = isOneWay ? "desc" : sorted.order
  const sorting = { ...sorted, sort, order, isOneWay }
  const read = (cursor: string | null, signal: AbortSignal) =>
    sort === "last"
      ? Events.readLatest(Client.given(filters), cursor, pageRows, signal)
      : Events.readSorted(Client.given({ ...filters, sort, order }), cursor, pageRows, signal)
  const pages = usePages("calls", { read, idOf }, JSON.stringify({ ...filters, sort, order }))
  const { again, error, hasMore, isLoading, rows } = pages
  useEffect(() => void (document.title = "Calls · Tachograph"), [])
  const isEmpty = rows.length === 0
  const isRead = isEmpty && !isLoading && error === undefined
  const { failure } = filters
  return (
    <section class="page">
      <div class="page-head">
        <h1>Calls</h1>
        <PageHelp />
        <Filters
          names={filterNames}
          values={values}
          set={(changes) => Route.amend(changes, "go")}
          mayFail={failure === null && !isRetried}
        >
          <RetriedOnly isOn={isRetried} />
          {!isRetried && <Sorting.SortBy sorting={sorting} sorts={sorts} />}
        </Filters>
      </div>
      {failure !== null && failure !== undefined && (
        <p class="hint">
          Those that failed as <Plain as="code" text={failure} />.{" "}
          <a href={Route.to(["calls"], { ...values, failure: null })}>Show all calls</a>
        </p>
      )}
      {isEmpty && error !== undefined && <Failed error={error} again={again} />}
      {isEmpty && isLoading && <Loading what="the calls" />}
      {isRead && hasMore && <SoFar title="Nothing matches so far" pages={pages} />}
      {isRead && !hasMore && <Empty title="No call matches" />}
      {!isEmpty && <Found pages={pages} sorting={isRetried ? undefined : sorting} />}
    </section>
  )
}

interface FoundProps {
  readonly pages: Pages<ListedEvent>
  /** Undefined where there is no order but that of recording. */
  readonly sorting: Sorting.Sorting | undefined
}

const Found = ({ pages, sorting }: FoundProps) => {
  const { rows } = pages
  const list = useRef<HTMLTableSectionElement>(null)
  const selection = useSelection(rows.map(idOf), list, (index) => Route.go(placeOf(idOf(rows[index]!))))
  return (
    <>
      <Table label="Calls" columns={columns} keyOf={idOf} {...{ list, rows, selection, sorting }} />
      <More pages={pages} />
    </>
  )
}

/** Sessions are read for it, so that there is no order but that of recording. */
const RetriedOnly = ({ isOn }: { readonly isOn: boolean }) => (
  <label class="check">
    <input
      type="checkbox"
      checked={isOn}
      onChange={({ currentTarget }) =>
        Route.amend({ retried: currentTarget.checked ? "true" : null, error: null, sort: null }, "go")
      }
    />
    <span>Tried again only</span>
  </label>
)
