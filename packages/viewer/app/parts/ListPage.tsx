/** A page that is a list of what has a page of its own, read page by page. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { PageHelp } from "../help/PageHelp.tsx"
import { useSelection } from "../keyboard/useSelection.ts"
import type { Source } from "../server/PagedList.ts"
import { usePages } from "../server/usePages.ts"
import { More } from "./More.tsx"
import { Failed, Loading } from "./States.tsx"
import type { Sorting } from "./Sorting.tsx"
import { type Column, Table } from "./Table.tsx"

interface Props<Row> {
  readonly title: string
  /** What the rows are, in the plural. */
  readonly name: string
  readonly source: Source<Row>
  readonly columns: ReadonlyArray<Column<Row>>
  readonly open: (id: string) => void
  /** Shown where there are no rows. */
  readonly empty: ComponentChildren
  /** Where the list can be sorted. */
  readonly sorting?: Sorting
  /** What all rows are together, also those that were not read. */
  readonly total?: Row | undefined
  /** Below the rows. */
  readonly noteOf?: (rows: ReadonlyArray<Row>) => ComponentChildren
  /** Beside the title. */
  readonly children?: ComponentChildren
}

export const ListPage = <Row,>({
  children,
  columns,
  empty,
  name,
  noteOf,
  open,
  sorting,
  source,
  title,
  total
}: Props<Row>) => {
  const pages = usePages(name, source, `${sorting?.sort} ${sorting?.order}`)
  const { again, error, isLoading, rows } = pages
  const list = useRef<HTMLTableSectionElement>(null)
  const selection = useSelection(rows.map(source.idOf), list, (index) => open(source.idOf(rows[index]!)))
  useEffect(() => void (document.title = `${title} · Tachograph`), [])
  const isEmpty = rows.length === 0
  return (
    <section class="page">
      <div class="page-head">
        <h1>{title}</h1>
        <PageHelp />
        {children}
      </div>
      {isEmpty && error !== undefined && <Failed error={error} again={again} />}
      {isEmpty && isLoading && <Loading what={`the ${name}`} />}
      {isEmpty && !isLoading && error === undefined && empty}
      {!isEmpty && <Table label={title} keyOf={source.idOf} {...{ columns, rows, list, selection, sorting, total }} />}
      {!isEmpty && noteOf?.(rows)}
      <More pages={pages} />
    </section>
  )
}
