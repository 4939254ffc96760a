/** Reads the counts of a usage by their names. */
import { count, get, isObject, text } from "../json/Read.ts"
import { type Count, type Names, ofUsage } from "./Names.ts"

/** What is counted. What is there and no count is `NaN`: it is not known. */
export type Counts = { [key in Count]?: number | undefined }

/** Of a count that is said twice, the larger counts: a zero only says that it was not filled in. */
const put = (counts: Counts, name: Count, value: unknown) => {
  if (value === null || value === undefined) return
  const known = count(value)
  const before = counts[name]
  if (known !== null) counts[name] = Math.max(before || 0, known)
  else if (before === undefined) counts[name] = Number.NaN
}

/** Names of the count in an element of a list, such as `{ modality, tokenCount }` and `{ ttl, inputTokens }`. */
const sizes = ["tokenCount", "token_count", "tokens", "inputTokens", "input_tokens"]

/** The elements of a list are added up. */
const collectItems = (counts: Counts, items: ReadonlyArray<unknown>, names: Names) => {
  const sums: Counts = {}
  for (const item of items) {
    const name = names.counts.get((text(get(item, "modality")) ?? text(get(item, "ttl")) ?? "").toLowerCase())
    const size = sizes.map((key) => get(item, key)).find((value) => typeof value === "number") as number | undefined
    if (name !== undefined && size !== undefined) sums[name] = (sums[name] ?? 0) + size
  }
  for (const [name, sum] of Object.entries(sums)) put(counts, name as Count, sum)
}

const collect = (counts: Counts, values: unknown, names: Names) => {
  if (Array.isArray(values)) return collectItems(counts, values, names)
  if (!isObject(values)) return
  for (const key of Object.keys(values)) {
    const value = values[key]
    const group = typeof value === "object" ? names.groups.get(key) : undefined
    const name = group === undefined ? names.counts.get(key) : undefined
    if (group !== undefined) collect(counts, value, group)
    else if (name !== undefined) put(counts, name, value)
  }
}

export const countsOf = (usage: unknown): Counts => {
  const counts: Counts = {}
  collect(counts, usage, ofUsage)
  return counts
}

/** Whether anything is counted, and not only zeros. */
export const isCounting = ({ prompt, input, output, total }: Counts): boolean =>
  [prompt, input, output, total].some((value) => (value ?? 0) > 0)
