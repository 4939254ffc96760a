/** Numbers and times as people read them. The exact value is in the title of every element that shows a rounded one. */

import * as Zone from "../settings/Zone.ts"
import * as Clock from "./Clock.ts"

/** A narrow no-break space between digits. */
const grouped = new Intl.NumberFormat("en", { useGrouping: true })
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 })

export const count = (value: number): string => grouped.format(value)

/** `1 call`, `2,000 calls`. */
export const counted = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? "" : "s"}`

/** 1,234 is 1.23K. */
export const short = (value: number): string => (value < 1_000 ? String(value) : compact.format(value))

const units = ["B", "kB", "MB", "GB", "TB"]

/** Decimal units. */
export const bytes = (value: number): string => {
  let power = 0
  // What would be rounded to a thousand has the next unit.
  while (power < units.length - 1 && value / 1_000 ** power >= (power === 0 ? 1_000 : 999.5)) power++
  const scaled = value / 1_000 ** power
  return `${power === 0 ? value : scaled.toFixed(scaled < 9.95 ? 1 : 0)} ${units[power]}`
}

/** Bytes of a text in UTF-8. */
export const sizeOf = (text: string): number => {
  let size = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    // Two units of a pair are four bytes.
    if (unit >= 0x80) size += unit < 0x800 || (unit & 0xf800) === 0xd800 ? 1 : 2
  }
  return size
}

const tiny = new Intl.NumberFormat("en", { maximumSignificantDigits: 2, useGrouping: false })

/**
 * A decimal number of dollars, as text. Small amounts keep two digits that say something, and none has an exponent. With `digits`, as many
 * behind the point as others that it is compared with.
 */
export const dollars = (value: string | null, digits?: number): string => {
  if (value === null) return "–"
  const amount = Number(value)
  if (amount === 0 && digits === undefined) return "$0"
  const sign = amount < 0 ? "−" : ""
  const size = Math.abs(amount)
  if (digits !== undefined) {
    const least = 10 ** -digits
    return size > 0 && size < least / 2 ? `<${sign}$${least.toFixed(digits)}` : `${sign}$${fixed(size, digits)}`
  }
  if (size >= 99.995) return `${sign}$${grouped.format(Math.round(size))}`
  return `${sign}$${size >= 0.00995 ? size.toFixed(2) : tiny.format(size)}`
}

const fixed = (value: number, digits: number): string =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })

/** Digits behind the point by which amounts of dollars are compared: two that say something of the smallest, unless the largest is too large. */
export const digitsOf = (values: ReadonlyArray<string | null>): number => {
  const sizes = values.map((value) => Math.abs(Number(value ?? 0))).filter((size) => size > 0)
  const wanted = Math.max(2, 1 - Math.floor(Math.log10(Math.min(1, ...sizes))))
  if (sizes.some((size) => size >= 100)) return 2
  return Math.min(wanted, sizes.some((size) => size >= 1) ? 4 : 6)
}

export const duration = (ms: number | null): string => {
  if (ms === null) return "–"
  if (ms < 999.5) return `${Math.round(ms)} ms`
  const tenths = Math.round(ms / 100)
  if (tenths < 100) return `${(tenths / 10).toFixed(1)} s`
  // Rounded before it is divided: no minute has 60 seconds.
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** 99.6 % is not all. */
export const percent = (part: number, whole: number): string => {
  if (whole === 0) return "–"
  const value = (100 * Math.max(0, part)) / whole
  if (value > 99.5 && value < 100) return ">99%"
  return value > 0 && value < 0.5 ? "<1%" : `${Math.round(value)}%`
}

const formatsOf = (timeZone: string) => {
  const in24 = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-GB", { timeZone, ...options })
  const day = { day: "numeric", month: "short" } as const
  return {
    timeZone,
    time: in24({ hour: "2-digit", minute: "2-digit", second: "2-digit" }),
    day: in24(day),
    weekday: in24({ weekday: "short", ...day }),
    dayOfYear: in24({ ...day, year: "numeric" }),
    exact: in24({ dateStyle: "long", timeStyle: "long" })
  }
}

let formats: ReturnType<typeof formatsOf> | undefined

/** Of the zone of the pages, which may change. */
const inZone = (): ReturnType<typeof formatsOf> => {
  if (formats?.timeZone !== Zone.get()) formats = formatsOf(Zone.get())
  return formats
}

const isSame = (one: Date, other: Date, length: number): boolean =>
  new Date(Clock.at(one.getTime())).toISOString().slice(0, length) ===
  new Date(Clock.at(other.getTime())).toISOString().slice(0, length)

/** The time of day, with the day where it is another one than today. */
export const moment = (iso: string): string => {
  const date = new Date(iso)
  if (isSame(date, new Date(), "2026-11-28".length)) return timeOfDay(iso)
  return `${dayOf(iso)}, ${timeOfDay(iso).slice(0, 5)}`
}

/** The day, with its year where it is another one than this. */
export const dayOf = (iso: string): string => {
  const date = new Date(iso)
  const { day, dayOfYear } = inZone()
  return (isSame(date, new Date(), "2026".length) ? day : dayOfYear).format(date)
}

/** `Sat 28 Nov`. */
export const weekday = (iso: string): string => inZone().weekday.format(new Date(iso)).replace(",", "")

export const timeOfDay = (iso: string): string => inZone().time.format(new Date(iso))

/** As fields for a time have it: `2026-11-23T18:05`, in the zone of these pages. Empty for what is no time. */
export const localMinute = (iso: string | null): string => {
  const ms = Date.parse(iso ?? "")
  return Number.isNaN(ms) ? "" : new Date(Clock.at(ms)).toISOString().slice(0, 16)
}

/** The time of such a field. */
export const ofLocalMinute = (minute: string): string => new Date(Clock.timeOf(Date.parse(`${minute}Z`))).toISOString()

/** With its zone. */
export const exactly = (iso: string): string => `${inZone().exact.format(new Date(iso))} · ${iso}`

/** A place in instructions, whose parts are counted where it is not the first. */
export const place = ({ character, part }: { readonly part: number; readonly character: number }): string =>
  part === 1 ? `character ${count(character)}` : `character ${count(character)} of part ${count(part)}`
