/** Tables whose columns say what is in their cells. */
import type { ComponentChildren, RefObject } from "preact"
import { type SortHere, type Sorting, SortTitle } from "./Sorting.tsx"
import { useScrolls } from "./useScrolls.ts"

export interface Column<Row> {
  readonly title: ComponentChildren
  /** Of a row among all that the table shows. */
  readonly of: (row: Row, rows: ReadonlyArray<Row>) => ComponentChildren
  /** Of its cells and of its title. */
  readonly class?: string
  /** What its title means. */
  readonly hint?: string
  /** Whether its cells name their rows. */
  readonly isHead?: boolean
  /** What the list is sorted by when its title is pressed, where the list can be sorted. */
  readonly sort?: SortHere
}

interface Props<Row> {
  readonly label: string
  readonly class?: string
  readonly columns: ReadonlyArray<Column<Row>>
  /** Whether its rows have room side by side however narrow the page is. */
  readonly isNarrow?: boolean
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  /** The element of the rows, and the index of the selected one. */
  readonly list?: RefObject<HTMLTableSectionElement | null>
  readonly selection?: number
  readonly sorting?: Sorting | undefined
  /** What all rows are together, in the same columns. */
  readonly total?: Row | undefined
}

/** A column of numbers. */
export const number = <Row,>(
  title: ComponentChildren,
  of: Column<Row>["of"],
  hint?: string,
  sort?: SortHere
): Column<Row> => ({
  title,
  of,
  class: "number",
  ...(hint === undefined ? {} : { hint }),
  ...(sort === undefined ? {} : { sort })
})

interface CellProps<Row> extends Pick<Props<Row>, "rows"> {
  readonly column: Column<Row>
  readonly row: Row
}

interface TitleProps<Row> extends Pick<Props<Row>, "sorting"> {
  readonly column: Column<Row>
}

const Title = <Row,>({ column: { hint, sort, title, ...column }, sorting }: TitleProps<Row>) => {
  const canSort = sorting !== undefined && sort !== undefined && typeof title === "string"
  const isSorted = canSort && sorting.sort === sort
  const order = sorting?.order === "asc" ? "ascending" : "descending"
  return (
    <th scope="col" class={column.class} title={hint} aria-sort={isSorted ? order : undefined}>
      {canSort ? <SortTitle name={title} {...{ sort, sorting }} /> : title}
    </th>
  )
}

const Cell = <Row,>({ column: { of, title, ...column }, row, rows }: CellProps<Row>) =>
  column.isHead === true ? (
    <th scope="row">{of(row, rows)}</th>
  ) : (
    // Where the titles have no room, each cell says its own.
    <td class={column.class} data-title={typeof title === "string" ? title : undefined}>
      {of(row, rows)}
    </td>
  )

/** Only the table, where the page scrolls. */
export const PlainTable = <Row,>({
  columns,
  isNarrow = false,
  keyOf,
  list,
  rows,
  selection,
  sorting,
  total,
  ...props
}: Omit<Props<Row>, "label">) => (
  <table class={`rows ${isNarrow ? "" : "stacks"} ${props.class ?? ""}`.trim()}>
    <thead>
      <tr>
        {columns.map((column, index) => (
          <Title key={index} column={column} sorting={sorting} />
        ))}
      </tr>
    </thead>
    <tbody ref={list ?? null}>
      {rows.map((row, index) => (
        <tr key={keyOf(row)} aria-current={index === selection ? "true" : undefined}>
          {columns.map((column, index) => (
            <Cell key={index} {...{ column, row, rows }} />
          ))}
        </tr>
      ))}
    </tbody>
    {total !== undefined && (
      <tfoot>
        <tr>
          {columns.map((column, index) =>
            index === 0 ? <th scope="row">Total</th> : <Cell key={index} {...{ column, rows }} row={total} />
          )}
        </tr>
      </tfoot>
    )}
  </table>
)

/** A table that may be wider than the page. */
export const Table = <Row,>({ label, ...table }: Props<Row>) => (
  <div class="table-scroll" ref={useScrolls<HTMLDivElement>()} tabIndex={0} role="region" aria-label={label}>
    <PlainTable {...table} />
  </div>
)
