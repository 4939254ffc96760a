/**
 * Prices of your own, as JSON:
 *
 *   {
 *     "date": "2026-11-01",
 *     "prices": [
 *       { "model": "my-model", "input_mtok": 2.5, "output_mtok": 10 },
 *       { "provider": "azure", "model": "gpt-4o*", "input_mtok": 2.2, "cache_read_mtok": 1.1, "output_mtok": 8.8 }
 *     ]
 *   }
 *
 * Prices are in US dollars: `…_mtok` per million tokens, `…_kcount` per thousand. A `*` at the end of a model stands for any
 * text. Without a provider, a price holds for every one. The first that matches is taken, before the kept list.
 */
import type { ModelPrice } from "@pydantic/genai-prices"

/** Text that is no price file, and where. */
export class PriceFileError extends Error {
  override readonly name = "PriceFileError"
}

export interface OwnPrice {
  readonly provider: string | null
  /** In lower case. */
  readonly model: string
  /** Whether `model` is only the beginning of the model's name. */
  readonly isPrefix: boolean
  readonly prices: ModelPrice
}

export interface PriceFile {
  /** The day of the prices, such as `2026-11-01`. */
  readonly date: string
  readonly prices: ReadonlyArray<OwnPrice>
}

const required = ["input_mtok", "output_mtok"]
const optional = [
  "cache_read_mtok",
  "cache_write_mtok",
  "cache_write_1h_mtok",
  "input_audio_mtok",
  "input_image_mtok",
  "input_video_mtok",
  "cache_audio_read_mtok",
  "cache_image_read_mtok",
  "output_audio_mtok",
  "output_image_mtok",
  "output_video_mtok",
  "output_reasoning_mtok",
  "output_citation_mtok",
  "requests_kcount",
  "web_searches_kcount",
  "storage_searches_kcount"
]
const priceKeys = [...required, ...optional]

const fail = (where: string, problem: string): never => {
  throw new PriceFileError(`${where} ${problem}.`)
}

const objectAt = (where: string, value: unknown, keys: ReadonlyArray<string>): Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail(where, "is not an object")
  const unknown = Object.keys(value).find((key) => !keys.includes(key))
  if (unknown !== undefined) fail(where, `has an unknown key ${JSON.stringify(unknown)}; known are ${keys.join(", ")}`)
  return value as Readonly<Record<string, unknown>>
}

const nameAt = (where: string, value: unknown): string =>
  typeof value === "string" && value.trim() !== "" ? value.trim().toLowerCase() : fail(where, "is not a name")

const ownPrice = (value: unknown, index: number): OwnPrice => {
  const where = `prices[${index}]`
  const entry = objectAt(where, value, ["provider", "model", ...priceKeys])
  const model = nameAt(`${where}.model`, entry["model"])
  const missing = required.find((key) => entry[key] === undefined)
  if (missing !== undefined) fail(where, `has no ${missing}`)
  const prices: Record<string, number> = {}
  for (const key of priceKeys) {
    const price = entry[key]
    if (price === undefined) continue
    if (typeof price === "number" && Number.isFinite(price) && price >= 0) prices[key] = price
    else fail(`${where}.${key}`, "is not a number of dollars of at least 0")
  }
  return {
    provider: entry["provider"] === undefined ? null : nameAt(`${where}.provider`, entry["provider"]),
    model: model.replace(/\*$/, ""),
    isPrefix: model.endsWith("*"),
    prices
  }
}

const isDate = (value: unknown): value is string =>
  typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))

/** Reads the text of a price file. Throws a `PriceFileError` that says what is wrong, and where. */
export const parse = (text: string): PriceFile => {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (error) {
    throw new PriceFileError(`The text is not JSON: ${(error as Error).message}`)
  }
  const { date, prices } = objectAt("The file", content, ["date", "prices"])
  if (!isDate(date)) return fail("date", "is not a day such as 2026-11-01")
  if (!Array.isArray(prices)) return fail("prices", "is not an array")
  return { date, prices: prices.map(ownPrice) }
}
