/** The calls of a session as a table. */
import { useEffect, useMemo, useRef } from "preact/hooks"
import { Ended, Model, numbers } from "../../parts/CallCells.tsx"
import { Bytes, Time } from "../../parts/Facts.tsx"
import { type Column, number, PlainTable } from "../../parts/Table.tsx"
import { useScrolls } from "../../parts/useScrolls.ts"
import * as Route from "../../route/Route.ts"
import type { Call } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import * as Retries from "./Retries.ts"
import { isRewrite, timeOf } from "./StreamItems.ts"

interface Props {
  readonly calls: ReadonlyArray<Call>
  readonly shown: ReadonlySet<string> | undefined
  readonly selected: string | undefined
}

const Changes = ({ call }: { readonly call: Call }) =>
  call.error_type === null && !call.is_damaged && isRewrite(call) ? (
    <span class="warn">rewritten, {Format.count(call.gone_messages.length)} gone</span>
  ) : (
    <Ended call={call} />
  )

const idOf = ({ event_id }: Call) => event_id

const columnsOf = (
  numberOf: ReadonlyMap<string, number>,
  retriedOf: (call: Call) => Retries.Retried
): ReadonlyArray<Column<Call>> => [
  { title: "Call", of: ({ event_id }) => <a href={Route.to(["events", event_id])}>{numberOf.get(event_id)}</a> },
  { title: "When", of: (call) => <Time at={timeOf(call)} /> },
  { title: "Model", of: (call) => <Model call={call} /> },
  {
    title: "Ended",
    of: (call) => (
      <>
        <Changes call={call} />
        <small>{Retries.wordsOf(retriedOf(call))}</small>
      </>
    )
  },
  number("New messages", ({ new_messages }) => Format.count(new_messages.length)),
  number("Sent", ({ inputs_bytes }) => <Bytes value={inputs_bytes} />),
  ...numbers
]

export const CallsTable = ({ calls, selected, shown }: Props) => {
  const list = useRef<HTMLTableSectionElement>(null)
  const scroller = useScrolls<HTMLDivElement>()
  const rows = useMemo(() => calls.filter(({ event_id }) => shown?.has(event_id) ?? true), [calls, shown])
  // Thousands of rows are not drawn again for another selection.
  const table = useMemo(() => {
    const numberOf = new Map(calls.map(({ event_id }, index) => [event_id, index + 1]))
    const columns = columnsOf(numberOf, Retries.retriesOf(calls))
    return <PlainTable columns={columns} rows={rows} keyOf={idOf} list={list} />
  }, [rows])
  const rowOf = () => list.current?.children[rows.findIndex(({ event_id }) => event_id === selected)]
  useEffect(() => {
    const row = rowOf()
    row?.setAttribute("aria-current", "true")
    return () => row?.removeAttribute("aria-current")
  }, [selected, rows])
  useEffect(() => rowOf()?.scrollIntoView({ block: "nearest" }), [selected])
  return (
    <div class="calls-table" ref={scroller}>
      {table}
    </div>
  )
}
