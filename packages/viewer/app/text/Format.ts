/** Numbers and times as people read them. The exact value is in the title of every element that shows a rounded one. */

/** A narrow no-break space between digits. */
const grouped = new Intl.NumberFormat("en", { useGrouping: true })
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 })

export const count = (value: number): string => grouped.format(value)

/** 1,234 is 1.23K. */
export const short = (value: number): string => (value < 1_000 ? String(value) : compact.format(value))

const units = ["B", "kB", "MB", "GB", "TB"]

/** Decimal units. */
export const bytes = (value: number): string => {
  const power = Math.min(value < 1 ? 0 : Math.floor(Math.log10(value) / 3), units.length - 1)
  const scaled = value / 1_000 ** power
  return `${power === 0 ? value : scaled.toFixed(scaled < 10 ? 1 : 0)} ${units[power]}`
}

/** A decimal number of dollars, as text. Small amounts keep two digits that say something. */
export const dollars = (value: string | null): string => {
  if (value === null) return "–"
  const amount = Number(value)
  if (amount === 0) return "$0"
  if (amount >= 100) return `$${grouped.format(Math.round(amount))}`
  if (amount >= 0.01) return `$${amount.toFixed(2)}`
  return `$${amount.toPrecision(2).replace(/(\.\d*?)0+$/, "$1")}`
}

export const duration = (ms: number | null): string => {
  if (ms === null) return "–"
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = ms / 1_000
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`
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

/** The zone in which every time is shown. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" })
const dayOfYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" })
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "long" })

/** The time of day, with the day where it is another one than today. */
export const moment = (iso: string): string => {
  const date = new Date(iso)
  if (date.toDateString() === new Date().toDateString()) return time.format(date)
  return `${dayOf(iso)}, ${time.format(date).slice(0, 5)}`
}

/** The day, with its year where it is another one than this. */
export const dayOf = (iso: string): string => {
  const date = new Date(iso)
  return (date.getFullYear() === new Date().getFullYear() ? day : dayOfYear).format(date)
}

export const timeOfDay = (iso: string): string => time.format(new Date(iso))

/** As fields for a time have it: `2026-11-23T18:05`, in the zone of these pages. Empty for what is no time. */
export const localMinute = (iso: string | null): string => {
  const date = new Date(iso ?? NaN)
  if (Number.isNaN(date.getTime())) return ""
  return new Date(date.getTime() - 60_000 * date.getTimezoneOffset()).toISOString().slice(0, 16)
}

/** With its zone. */
export const exactly = (iso: string): string => `${exact.format(new Date(iso))} · ${iso}`
