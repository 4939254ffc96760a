/** What calls cost, with a `+` and a title where that is not all. */
import type { EventSummary, UsageRow } from "../server/Types.ts"
import * as Format from "../text/Format.ts"
import { type Column, number } from "./Table.tsx"

type Part = NonNullable<EventSummary["unpriced_parts"]>[number]

const names: Readonly<Record<Part, string>> = {
  audio: "audio",
  images: "images",
  video: "video",
  cache_write_1h: "caches written for an hour",
  citations: "citations",
  web_search: "searches of the web",
  file_search: "searches of files",
  code_interpreter: "a code interpreter",
  maps: "maps",
  advisor: "an advisor"
}

export const namesOf = (parts: ReadonlyArray<Part>): string => parts.map((part) => names[part]).join(", ")

interface CostProps {
  readonly usd: string | null
  /** What is not in it, such as “1 call without a price”. */
  readonly missing?: string
  /** Of all costs of its column, so that they can be compared. */
  readonly digits?: number
}

const titleOf = ({ missing = "", usd }: CostProps): string =>
  usd === null ? "No price is known" : `${usd} US dollars${missing === "" ? "" : `; not counted: ${missing}`}`

export const Cost = (props: CostProps) => {
  const { digits, missing = "", usd } = props
  const isIncomplete = usd !== null && missing !== ""
  return (
    <span title={titleOf(props)}>
      {usd === null && digits === undefined ? "no price" : Format.dollars(usd, digits)}
      {digits === undefined ? isIncomplete && "+" : <span class="plus">{isIncomplete && "+"}</span>}
    </span>
  )
}

type Priced = Pick<EventSummary, "cost_usd" | "stated_cost_usd" | "unpriced_parts">

const missingIn = ({ stated_cost_usd, unpriced_parts }: Priced): string =>
  stated_cost_usd === null ? namesOf(unpriced_parts ?? []) : ""

export const CallCost = ({ call }: { readonly call: Priced }) => <Cost usd={call.cost_usd} missing={missingIn(call)} />

type Sum = Pick<UsageRow, "cost_usd" | "unpriced_events" | "partly_priced_events">

export const missingOf = ({ partly_priced_events, unpriced_events }: Omit<Sum, "cost_usd">): string => {
  const whole = unpriced_events > 0 ? [Format.counted(unpriced_events, "call")] : []
  const parts = partly_priced_events > 0 ? [`parts of ${Format.counted(partly_priced_events, "call")}`] : []
  const missing = [...whole, ...parts].join(" and ")
  return missing === "" ? "" : `${missing} without a price`
}

/** With what is not in it beside it. */
export const SumCost = ({ of }: { readonly of: Sum }) => {
  const missing = of.cost_usd === null ? "" : missingOf(of)
  return (
    <>
      <Cost usd={of.cost_usd} missing={missing} />
      {missing !== "" && <small> not counted: {missing}</small>}
    </>
  )
}

/** The digits of a column, by its rows. */
export const digitsBy = <Row,>(costOf: (row: Row) => string | null) => {
  const digits = new WeakMap<ReadonlyArray<Row>, number>()
  return (rows: ReadonlyArray<Row>): number => {
    const known = digits.get(rows) ?? Format.digitsOf(rows.map(costOf))
    digits.set(rows, known)
    return known
  }
}

export const digitsIn = digitsBy(({ cost_usd }: { readonly cost_usd: string | null }) => cost_usd)

/** The column of what sums of calls cost: with as many digits in each row, those of its rows where the page does not say how many. */
export const sumColumnOf = (digits?: number): Column<Sum> =>
  number(
    "Cost",
    (row, rows) => <Cost usd={row.cost_usd} missing={missingOf(row)} digits={digits ?? digitsIn(rows)} />,
    undefined,
    "cost"
  )
export const sumColumn = sumColumnOf()
export const callColumn: Column<Priced> = number(
  "Cost",
  (call, rows) => <Cost usd={call.cost_usd} missing={missingIn(call)} digits={digitsIn(rows)} />,
  undefined,
  "cost"
)

/** What is not in these sums together, also of those without any cost; empty where that is nothing, or all. */
export const noteOf = (sums: ReadonlyArray<Sum>): string => {
  if (sums.every(({ cost_usd }) => cost_usd === null)) return ""
  const sumOf = (key: "unpriced_events" | "partly_priced_events") => sums.reduce((sum, each) => sum + each[key], 0)
  const missing = missingOf({
    unpriced_events: sumOf("unpriced_events"),
    partly_priced_events: sumOf("partly_priced_events")
  })
  return missing === "" ? "" : `+ not counted: ${missing}`
}

/** Stands below a table. */
export const SumNote = ({ of }: { readonly of: ReadonlyArray<Sum> }) => {
  const note = noteOf(of)
  return note === "" ? null : <p class="hint note">{note}</p>
}
