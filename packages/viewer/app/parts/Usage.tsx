/** What calls add up to, as a table: a row for each value of one dimension. */
import type { ComponentChildren, RefObject } from "preact"
import type { UsageRow } from "../server/Types.ts"
import * as Format from "../text/Format.ts"
import { sumColumn, SumNote } from "./Costs.tsx"
import { Duration, Tokens } from "./Facts.tsx"
import { FailedCount } from "./Failures.tsx"
import { type Column, number, Table } from "./Table.tsx"

interface Props {
  readonly title: string
  readonly rows: ReadonlyArray<UsageRow>
  readonly nameOf: (row: UsageRow) => ComponentChildren
  readonly keyOf: (row: UsageRow) => string
  /** The place of the failures of a row. */
  readonly failuresOf: (row: UsageRow) => string
  /** The element of the rows, and the index of the selected one. */
  readonly list?: RefObject<HTMLTableSectionElement | null>
  readonly selection?: number
}

const numbersOf = (failuresOf: Props["failuresOf"]): ReadonlyArray<Column<UsageRow>> => [
  number("Calls", ({ events }) => Format.count(events)),
  number("Failed", (row) => (row.errors > 0 ? <FailedCount count={row.errors} to={failuresOf(row)} /> : 0)),
  number("Tokens", (row) => (
    <Tokens input={row.input_tokens} cached={row.cache_read_tokens} output={row.output_tokens} />
  )),
  sumColumn,
  number("Duration, p50", (row) => <Duration ms={row.duration_ms_p50} />, "Half of the calls took no longer"),
  number("p95", (row) => <Duration ms={row.duration_ms_p95} />, "95 % of the calls took no longer")
]

export const UsageTable = ({ failuresOf, nameOf, title, ...table }: Props) => (
  <>
    <Table label={title} columns={[{ title, of: nameOf }, ...numbersOf(failuresOf)]} {...table} />
    <SumNote of={table.rows} />
  </>
)
