/** Days and hours of a time zone, by the offsets that it has had at each time. */
import type { TimeRange } from "./TimeRanges.ts"

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Offsets change at a quarter of an hour. */
const stepMs = 15 * minuteMs

/** No zone has changed its offset twice within such a span of time since 2001. */
const spanMs = 7 * dayMs

/** The offset during a span: one, or two. */
interface Span {
  readonly before: number
  readonly after: number
  readonly changesAtMs: number
}

/** Spans at which `hasWholeHours` looks at most. */
const maxSpans = 4_000

/** The offset of the zone of a format at a time. */
const lookUp = (format: Intl.DateTimeFormat, ms: number): number => {
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]))
  const [year, month, day, hour, minute, second] = (["year", "month", "day", "hour", "minute", "second"] as const).map(
    (type) => Number(parts.get(type))
  )
  const local = new Date(0)
  local.setUTCFullYear(year!, month! - 1, day!)
  local.setUTCHours(hour!, minute!, second!)
  // Before 1972 some offsets had seconds.
  return Math.round((local.getTime() - ms) / minuteMs) * minuteMs
}

export class LocalTime {
  /** Undefined for UTC. */
  readonly #format: Intl.DateTimeFormat | undefined
  readonly #spans = new Map<number, Span>()

  get isUtc(): boolean {
    return this.#format === undefined
  }

  /** An IANA name, which `Intl` knows. Throws a `RangeError` otherwise. */
  constructor(timeZone: string) {
    if (timeZone === "UTC") return
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric"
    })
  }

  #lookUpSpan(format: Intl.DateTimeFormat, fromMs: number): Span {
    const [before, after] = [lookUp(format, fromMs), lookUp(format, fromMs + spanMs)]
    if (before === after) return { before, after, changesAtMs: Number.POSITIVE_INFINITY }
    let [unchanged, changed] = [0, spanMs / stepMs]
    while (changed - unchanged > 1) {
      const middle = Math.floor((unchanged + changed) / 2)
      if (lookUp(format, fromMs + middle * stepMs) === before) unchanged = middle
      else changed = middle
    }
    return { before, after, changesAtMs: fromMs + changed * stepMs }
  }

  #spanOf(format: Intl.DateTimeFormat, ms: number): Span {
    const number = Math.floor(ms / spanMs)
    let span = this.#spans.get(number)
    if (span === undefined) {
      span = this.#lookUpSpan(format, number * spanMs)
      this.#spans.set(number, span)
    }
    return span
  }

  /** The local time minus UTC at a time, in milliseconds. */
  offsetAt(ms: number): number {
    if (this.#format === undefined) return 0
    const { after, before, changesAtMs } = this.#spanOf(this.#format, ms)
    return ms < changesAtMs ? before : after
  }

  /** When the offset may change next. */
  #changeAfter(ms: number): number {
    if (this.#format === undefined) return Number.POSITIVE_INFINITY
    const { changesAtMs } = this.#spanOf(this.#format, ms)
    return ms < changesAtMs && Number.isFinite(changesAtMs) ? changesAtMs : (Math.floor(ms / spanMs) + 1) * spanMs
  }

  /** The parts of a range which are of one local day each, in order. */
  daysIn({ fromMs, toMs }: TimeRange): ReadonlyArray<TimeRange> {
    const days: Array<TimeRange> = []
    for (let at = fromMs; at < toMs;) {
      const midnight = (this.dayOf(at) + 1) * dayMs - this.offsetAt(at)
      const end = Math.min(Math.ceil(midnight / stepMs) * stepMs, this.#changeAfter(at), toMs)
      days.push({ fromMs: at, toMs: end })
      at = end
    }
    return days
  }

  /** The number of the local day, from 1 January 1970 on. */
  dayOf(ms: number): number {
    return Math.floor((ms + this.offsetAt(ms)) / dayMs)
  }

  /** When the local hour of a time began. */
  hourOf(ms: number): number {
    const offset = this.offsetAt(ms)
    return Math.floor((ms + offset) / hourMs) * hourMs - offset
  }

  /** `2026-11-23`. */
  static formatDay(day: number): string {
    return new Date(day * dayMs).toISOString().slice(0, 10)
  }

  /** `2026-11-23T10:00:00+01:00`, of the beginning of an hour. */
  formatHour(ms: number): string {
    const first = this.offsetAt(ms)
    // Where clocks change by half an hour, the hour may begin, by its own offset, before they do.
    const offset = (ms + first) % hourMs === 0 ? first : this.offsetAt(ms + hourMs - 1)
    const minutes = Math.abs(offset) / minuteMs
    const two = (number: number) => String(number).padStart(2, "0")
    const zone = `${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
    return `${new Date(ms + offset).toISOString().slice(0, 19)}${zone}`
  }

  /** Whether all local hours of a range begin with an hour of UTC. */
  hasWholeHours(fromMs: number, toMs: number): boolean {
    if (this.isUtc) return true
    const step = Math.max(spanMs, (toMs - fromMs) / maxSpans)
    for (let ms = fromMs; ms < toMs + step; ms += step) {
      if (this.offsetAt(Math.min(ms, toMs)) % hourMs !== 0) return false
    }
    return true
  }
}
