/** What calls add up to, as a table: a row for each value of one dimension. */
import type { ComponentChildren, RefObject } from "preact"
import type { UsageRow } from "../server/Types.ts"
import * as Format from "../text/Format.ts"
import { SumCost } from "./Costs.tsx"
import { Duration, Tokens } from "./Facts.tsx"

interface Props {
  readonly title: string
  readonly rows: ReadonlyArray<UsageRow>
  readonly nameOf: (row: UsageRow) => ComponentChildren
  readonly keyOf: (row: UsageRow) => string
  /** The element of the rows, and the index of the selected one. */
  readonly list?: RefObject<HTMLTableSectionElement | null>
  readonly selection?: number
}

export const UsageTable = ({ keyOf, list, nameOf, rows, selection, title }: Props) => (
  <div class="table-scroll" tabIndex={0} role="region" aria-label={title}>
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col" class="number">
            Calls
          </th>
          <th scope="col" class="number">
            Failed
          </th>
          <th scope="col" class="number">
            Tokens
          </th>
          <th scope="col" class="number">
            Cost
          </th>
          <th scope="col" class="number" title="Half of the calls took no longer">
            Duration, p50
          </th>
          <th scope="col" class="number" title="95 % of the calls took no longer">
            p95
          </th>
        </tr>
      </thead>
      <tbody ref={list ?? null}>
        {rows.map((row, index) => (
          <tr key={keyOf(row)} aria-current={index === selection ? "true" : undefined}>
            <td>{nameOf(row)}</td>
            <td class="number">{Format.count(row.events)}</td>
            <td class="number">{row.errors > 0 ? <span class="bad">{Format.count(row.errors)}</span> : 0}</td>
            <td class="number">
              <Tokens input={row.input_tokens} cached={row.cache_read_tokens} output={row.output_tokens} />
            </td>
            <td class="number">
              <SumCost of={row} />
            </td>
            <td class="number">
              <Duration ms={row.duration_ms_p50} />
            </td>
            <td class="number">
              <Duration ms={row.duration_ms_p95} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
