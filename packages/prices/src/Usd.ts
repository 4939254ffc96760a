/** Amounts of US dollars as whole billionths in memory, and as decimal numbers on the wire. */

/** Formats billionths of a dollar as a decimal number of dollars, without rounding: 3480000 → `0.00348`. */
export const formatUsd = (nanoDollars: number | bigint): string => {
  const amount = BigInt(nanoDollars)
  const digits = (amount < 0n ? -amount : amount).toString().padStart(10, "0")
  const fraction = digits.slice(-9).replace(/0+$/, "")
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`
}

/** The shape of what `formatUsd` returns for amounts of at least 0. */
export const usdPattern = /^\d+(\.\d{1,9})?$/

/** Reads what `formatUsd` returns for amounts that a number can hold: `0.00348` → 3480000. */
export const parseUsd = (usd: string): number => {
  const [dollars = "", fraction = ""] = usd.split(".")
  return Number(dollars + fraction.padEnd(9, "0"))
}
