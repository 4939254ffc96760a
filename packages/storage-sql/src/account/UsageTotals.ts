/** Totals of usage, in the columns b to e of a row of an account. The column a is the agent's number. */
import type { UsageTotals } from "@tachograph/core"
import type { Integer } from "../sql/RowDecoding.ts"

export const noTotals: UsageTotals = { events: 0, sentBytes: 0, newBytes: 0, storedBytes: 0 }

export const totalsOf = ({ b, c, d, e }: Readonly<Record<"b" | "c" | "d" | "e", Integer>>): UsageTotals => ({
  events: Number(b),
  sentBytes: Number(c),
  newBytes: Number(d),
  storedBytes: Number(e)
})
