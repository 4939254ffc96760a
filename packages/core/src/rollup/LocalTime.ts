/** Days and hours of a time zone, by the offsets that it has had at each time. */

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Offsets are looked up once for each quarter of an hour: no zone has changed its own within one since 1972. */
const stepMs = 15 * minuteMs
const maxCachedSteps = 100_000

/** How densely offsets are looked at to find out which a zone has in a range: no other offset lasts for less. */
const sampleMs = 7 * dayMs
const maxSamples = 4_000

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
  readonly #offsets = new Map<number, number>()

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

  /** The local time minus UTC at a time, in milliseconds. */
  offsetAt(ms: number): number {
    if (this.#format === undefined) return 0
    const step = Math.floor(ms / stepMs)
    let offset = this.#offsets.get(step)
    if (offset === undefined) {
      offset = lookUp(this.#format, step * stepMs)
      if (this.#offsets.size === maxCachedSteps) this.#offsets.clear()
      this.#offsets.set(step, offset)
    }
    return offset
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
    const step = Math.max(sampleMs, (toMs - fromMs) / maxSamples)
    for (let ms = fromMs; ms < toMs + step; ms += step) {
      if (this.offsetAt(Math.min(ms, toMs)) % hourMs !== 0) return false
    }
    return true
  }
}
