/** `#/live`: calls as they are recorded. The list follows them at its top only; further down it says how many are new. */
import { useEffect, useRef, useState } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useSelection } from "../../keyboard/useSelection.ts"
import { callColumnsOf } from "../../parts/CallColumns.tsx"
import { FailedOnly } from "../../parts/Filters.tsx"
import { Empty, Failed } from "../../parts/States.tsx"
import { Table } from "../../parts/Table.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import type { ListedEvent } from "../../server/Types.ts"
import { CallPeek } from "./CallPeek.tsx"
import { useCalls } from "./useCalls.ts"

/** Whether the page is at its top. */
const useAtTop = (): boolean => {
  const [isAtTop, setAtTop] = useState(true)
  useEffect(() => {
    const update = () => setAtTop(scrollY < 40)
    addEventListener("scroll", update, { passive: true })
    return () => removeEventListener("scroll", update)
  }, [])
  return isAtTop
}

const idOf = ({ event_id }: ListedEvent) => event_id

const columns = callColumnsOf({
  toCall: ({ event_id }) => Route.to(["events", event_id]),
  toSession: ({ event_id, session }) => Route.to(["sessions", session], { call: event_id })
})

const peek = (call: string | null) => Route.amend({ peek: call })

export const LivePage = ({ query }: PageProps) => {
  const isFailed = query.get("error") === "true"
  const { calls, error, isFast } = useCalls(isFailed)
  const peeked = query.get("peek")
  const isAtTop = useAtTop()
  const [seen, setSeen] = useState<string>()
  useEffect(() => void (document.title = "Live · Tachograph"), [])
  useEffect(() => {
    if (isAtTop) setSeen(calls[0]?.event_id)
  }, [isAtTop, calls])
  const from = isAtTop
    ? 0
    : Math.max(
        0,
        calls.findIndex(({ event_id }) => event_id === seen)
      )
  const shown = calls.slice(from)
  const list = useRef<HTMLTableSectionElement>(null)
  const selection = useSelection(
    shown.map(idOf),
    list,
    (index) => Route.go(Route.to(["events", shown[index]!.event_id])),
    (index) => peek(shown[index]!.event_id)
  )
  if (error !== undefined && calls.length === 0) return <Failed isWhole error={error} />
  return (
    <section class="page">
      <div class="page-head">
        <h1>Live</h1>
        <PageHelp />
        <p class="hint" role="status">
          {error === undefined ? (
            <>
              <span key={calls[0]?.event_id} class="live beat" />
              {isFast ? " More calls come than are shown: these are the latest" : " Calls appear as they are recorded"}
            </>
          ) : (
            "Reconnecting: the server does not answer"
          )}
        </p>
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <FailedOnly values={{ error: query.get("error") }} set={(changes) => Route.amend(changes, "go")} />
        </form>
      </div>
      {from > 0 && (
        <button type="button" class="primary fresh-calls" onClick={() => scrollTo(0, 0)}>
          {from} new ↑
        </button>
      )}
      {calls.length === 0 && <Empty title={isFailed ? "No call has failed" : "Nothing is recorded yet"} />}
      {calls.length > 0 && (
        <Table label="Calls" columns={columns} rows={shown} keyOf={idOf} list={list} selection={selection} />
      )}
      {peeked !== null && <CallPeek key={peeked} id={peeked} close={() => peek(null)} />}
    </section>
  )
}
