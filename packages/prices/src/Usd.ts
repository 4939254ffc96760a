/** Formats billionths of a dollar as a decimal number of dollars, without rounding: 3480000 → `0.00348`. */
export const formatUsd = (nanoDollars: number | bigint): string => {
  const amount = BigInt(nanoDollars)
  const digits = (amount < 0n ? -amount : amount).toString().padStart(10, "0")
  const fraction = digits.slice(-9).replace(/0+$/, "")
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`
}
