/** What calls add up to, as a table: a row for each value of one dimension, and one for all together. */
import type { ComponentChildren, RefObject } from "preact"
import { useState } from "preact/hooks"
import type { UsageRow } from "../server/Types.ts"
import * as Format from "../text/Format.ts"
import { Cost, digitsBy, sumColumnOf, SumNote } from "./Costs.tsx"
import { Duration, Time, Tokens } from "./Facts.tsx"
import { FailedCount } from "./Failures.tsx"
import type { SortHere, Sorting } from "./Sorting.tsx"
import { type Column, number, Table } from "./Table.tsx"

interface TableProps {
  readonly title: string
  readonly rows: ReadonlyArray<UsageRow>
  /** All of them together. */
  readonly total?: UsageRow | undefined
  /** Of what they cost, where the page shows the same sums elsewhere too. */
  readonly digits?: number | undefined
  readonly nameOf: (row: UsageRow) => ComponentChildren
  readonly keyOf: (row: UsageRow) => string
  /** The place of the failures of a row. */
  readonly failuresOf: (row: UsageRow) => string
}

interface Props extends TableProps {
  /** By what they are sorted at first; in the order in which they come without it. */
  readonly sort?: SortHere
}

interface SortedProps extends TableProps {
  readonly sorting: Sorting
  /** The element of the rows, and the index of the selected one. */
  readonly list?: RefObject<HTMLTableSectionElement | null>
  readonly selection?: number
}

/** At least so much, where calls have no price. */
const missingIn = ({ unpriced_sessions }: UsageRow): string =>
  unpriced_sessions === null || unpriced_sessions === 0
    ? ""
    : `at least: ${Format.counted(unpriced_sessions, "session")} with calls without a price`

/** By what a session costs in the mean. */
export const meanDigits = digitsBy(({ cost_usd_per_session }: UsageRow) => cost_usd_per_session?.mean ?? null)

const PerSession = ({ digits, row }: { readonly row: UsageRow; readonly digits: number }) => {
  const cost = row.cost_usd_per_session
  if (cost === null) return <span class="soft">{row.sessions === null ? "not known" : "no price"}</span>
  const missing = missingIn(row)
  return (
    <>
      <Cost usd={cost.mean} {...{ digits, missing }} />
      <small class="spread">
        median <Cost usd={cost.median} {...{ digits, missing }} /> · p95{" "}
        <Cost usd={cost.p95} {...{ digits, missing }} />
      </small>
    </>
  )
}

const columnsOf = ({
  digits,
  failuresOf
}: Pick<TableProps, "digits" | "failuresOf">): ReadonlyArray<Column<UsageRow>> => [
  number(
    "Sessions",
    ({ sessions }) => (sessions === null ? "not known" : Format.count(sessions)),
    undefined,
    "sessions"
  ),
  number("Calls", ({ events }) => Format.count(events), undefined, "calls"),
  number(
    "Failed",
    (row) => (row.errors > 0 ? <FailedCount count={row.errors} to={failuresOf(row)} /> : 0),
    undefined,
    "errors"
  ),
  number(
    "Tokens",
    (row) => <Tokens input={row.input_tokens} cached={row.cache_read_tokens} output={row.output_tokens} />,
    undefined,
    "tokens"
  ),
  sumColumnOf(digits),
  number(
    "Cost of a session",
    (row, rows) => <PerSession row={row} digits={meanDigits(rows)} />,
    "The mean: what all cost divided by the sessions",
    "session_cost"
  ),
  number(
    "Duration, p50",
    (row) => <Duration ms={row.duration_ms_p50} />,
    "Half of the calls took no longer",
    "duration"
  ),
  number("Duration, p95", (row) => <Duration ms={row.duration_ms_p95} />, "95 % of the calls took no longer", "p95"),
  number(
    "Last call",
    ({ last_event_at }) => (last_event_at === null ? "not known" : <Time at={last_event_at} />),
    undefined,
    "last"
  )
]

/** What is not known is less than anything. */
const figureOf = (row: UsageRow, sort: SortHere): number => {
  switch (sort) {
    case "cost":
      return row.cost_usd === null ? -1 : Number(row.cost_usd)
    case "calls":
      return row.events
    case "tokens":
      return row.input_tokens + row.output_tokens
    case "errors":
      return row.errors
    case "duration":
      return row.duration_ms_p50 ?? -1
    case "sessions":
      return row.sessions ?? -1
    case "session_cost":
      return Number(row.cost_usd_per_session?.mean ?? -1)
    case "p95":
      return row.duration_ms_p95 ?? -1
    case "last":
      return row.last_event_at === null ? -1 : Date.parse(row.last_event_at)
  }
}

const sorted = (rows: ReadonlyArray<UsageRow>, { order, sort }: Pick<Sorting, "order" | "sort">) =>
  sort === undefined
    ? rows
    : rows.toSorted((a, b) => (figureOf(a, sort) - figureOf(b, sort)) * (order === "asc" ? 1 : -1))

/** Rows in the order that a person chooses, and what chooses it. */
export const useSorted = (rows: ReadonlyArray<UsageRow>, first: SortHere | undefined) => {
  const [{ order, sort }, setSorting] = useState<Pick<Sorting, "order" | "sort">>({ sort: first, order: "desc" })
  const set: Sorting["set"] = (next, order) => setSorting({ sort: next, order })
  return { rows: sorted(rows, { order, sort }), sorting: { sort, order, set } satisfies Sorting }
}

/** Rows that the page has sorted. */
export const SortedUsageTable = ({ digits, failuresOf, nameOf, title, ...table }: SortedProps) => (
  <>
    <Table label={title} columns={[{ title, of: nameOf }, ...columnsOf({ digits, failuresOf })]} {...table} />
    <SumNote of={table.rows} />
  </>
)

export const UsageTable = ({ rows, sort, ...table }: Props) => (
  <SortedUsageTable {...table} {...useSorted(rows, sort)} />
)
