/** Figures for people: with separators, in few digits. */

const integers = new Intl.NumberFormat("en-US")

/** `1,234,567`. */
export const integer = (count: number): string => integers.format(count)

/** `1 call`, `1,234 calls`. */
export const counted = (count: number, what: string): string => `${integer(count)} ${what}${count === 1 ? "" : "s"}`

/** Empty for none. */
export const integerOrNone = (count: number): string => (count === 0 ? "" : integer(count))

/** `?` for what is not known. */
export const integerOrUnknown = (count: number | null): string => (count === null ? "?" : integer(count))

/** Of the tokens before it, those that the provider read from its cache. Empty where it does not say, which is no count of 0. */
export const cached = (tokens: number | null): string => (tokens === null ? "" : ` (${integer(tokens)} cached)`)

/** Dollars of a decimal number, to four digits after the point: `$0.0105`. Empty for none. */
export const dollars = (usd: string | null): string => {
  if (usd === null) return ""
  const amount = Number(usd)
  return amount > 0 && amount < 0.0001 ? "<$0.0001" : `$${amount.toFixed(amount < 100 ? 4 : 2)}`
}

interface Sum {
  readonly cost_usd: string | null
  readonly unpriced_events: number
  readonly partly_priced_events: number
}

/** Whether some of the calls have no cost, or one that leaves something out. */
export const hasUnpricedCalls = ({ partly_priced_events, unpriced_events }: Omit<Sum, "cost_usd">): boolean =>
  unpriced_events + partly_priced_events > 0

/** Whether sessions have such calls, or it is not known. */
export const hasUnpricedSessions = ({ unpriced_sessions }: { readonly unpriced_sessions: number | null }): boolean =>
  unpriced_sessions !== 0

const partial = (usd: string | null, isPartial: boolean): string =>
  usd === null || !isPartial ? dollars(usd) : `${dollars(usd)}+`

/** `$0.0105+`, where some of the calls have no cost, or one that leaves something out. */
export const sumCost = (sum: Sum): string => partial(sum.cost_usd, hasUnpricedCalls(sum))

interface Spread {
  readonly cost_usd_per_session: { readonly mean: string; readonly median: string; readonly p95: string } | null
  readonly unpriced_sessions: number | null
}

/** `$0.0105+`, where some of the sessions cost more than is known. */
export const sessionCost =
  (of: "mean" | "median" | "p95") =>
  (spread: Spread): string =>
    partial(spread.cost_usd_per_session?.[of] ?? null, hasUnpricedSessions(spread))

interface Costly {
  readonly cost_usd: string | null
  readonly stated_cost_usd: string | null
  readonly unpriced_parts: ReadonlyArray<string> | null
}

/** `$0.0034 without audio`, where the price list lacks the price of a part and the answer does not say the cost. */
export const cost = ({ cost_usd, stated_cost_usd, unpriced_parts: parts }: Costly): string =>
  stated_cost_usd !== null || parts === null || parts.length === 0
    ? dollars(cost_usd)
    : `${dollars(cost_usd)} without ${parts.join(", ")}`

/** `12 ms`, `3.4 s`, `12 min`, `3 h 20 min`. Empty for none. */
export const duration = (ms: number | null): string => {
  if (ms === null) return ""
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`
  if (ms < 600_000) return `${(ms / 1000).toFixed(ms < 100_000 ? 1 : 0)} s`
  const minutes = Math.round(ms / 60_000)
  return minutes < 100 ? `${minutes} min` : `${integer(Math.floor(minutes / 60))} h ${minutes % 60} min`
}

/** From the first call of a session to the last one, which has begun then. */
export const lasted = (of: { readonly first_event_at: string; readonly last_event_at: string }): string =>
  duration(Date.parse(of.last_event_at) - Date.parse(of.first_event_at))

/** A time of ISO 8601 to the minute: `2026-11-23 10:00`. */
export const minute = (iso: string): string => iso.slice(0, 16).replace("T", " ")

/** Empty for none. */
export const minuteOrNone = (iso: string | null | undefined): string =>
  iso === null || iso === undefined ? "" : minute(iso)

/** At most `characters` characters, in one line. */
export const cut = (text: string, characters: number): string => {
  const all = Array.from(text)
  return all.length <= characters ? text : `${all.slice(0, characters - 1).join("")}…`
}
