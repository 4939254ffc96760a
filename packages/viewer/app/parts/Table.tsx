/** Tables whose columns say what is in their cells. */
import type { ComponentChildren, RefObject } from "preact"

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
}

interface Props<Row> {
  readonly label: string
  readonly class?: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  /** The element of the rows, and the index of the selected one. */
  readonly list?: RefObject<HTMLTableSectionElement | null>
  readonly selection?: number
}

/** A column of numbers. */
export const number = <Row,>(title: ComponentChildren, of: Column<Row>["of"], hint?: string): Column<Row> => ({
  title,
  of,
  class: "number",
  ...(hint === undefined ? {} : { hint })
})

interface CellProps<Row> extends Pick<Props<Row>, "rows"> {
  readonly column: Column<Row>
  readonly row: Row
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
export const PlainTable = <Row,>({ columns, keyOf, list, rows, selection, ...props }: Omit<Props<Row>, "label">) => (
  <table class={`rows ${props.class ?? ""}`.trim()}>
    <thead>
      <tr>
        {columns.map((column, index) => (
          <th key={index} scope="col" class={column.class} title={column.hint}>
            {column.title}
          </th>
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
  </table>
)

/** A table that may be wider than the page. */
export const Table = <Row,>({ label, ...table }: Props<Row>) => (
  <div class="table-scroll" tabIndex={0} role="region" aria-label={label}>
    <PlainTable {...table} />
  </div>
)
