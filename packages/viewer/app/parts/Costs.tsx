/** What calls cost, with a `+` and a title where that is not all. */
import type { EventSummary, UsageRow } from "../server/Types.ts"
import * as Format from "../text/Format.ts"

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

/** `missing` says what is not in it. */
export const Cost = ({ missing = "", usd }: { readonly usd: string | null; readonly missing?: string }) => (
  <span title={usd === null ? "No price is known" : `${usd} US dollars${missing === "" ? "" : `, without ${missing}`}`}>
    {Format.cost(usd, missing !== "")}
  </span>
)

type Priced = Pick<EventSummary, "cost_usd" | "stated_cost_usd" | "unpriced_parts">

export const CallCost = ({ call: { cost_usd, stated_cost_usd, unpriced_parts } }: { readonly call: Priced }) => (
  <Cost usd={cost_usd} missing={stated_cost_usd === null ? namesOf(unpriced_parts ?? []) : ""} />
)

type Sum = Pick<UsageRow, "cost_usd" | "unpriced_events" | "partly_priced_events">

export const SumCost = ({ of }: { readonly of: Sum }) => {
  const whole = of.unpriced_events > 0 ? [Format.counted(of.unpriced_events, "call")] : []
  const parts = of.partly_priced_events > 0 ? [`parts of ${Format.counted(of.partly_priced_events, "call")}`] : []
  const missing = [...whole, ...parts].join(" and ")
  return <Cost usd={of.cost_usd} missing={missing === "" ? "" : `${missing} that have no price`} />
}
